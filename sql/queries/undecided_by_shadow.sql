-- Committed decisions without a verdict of a shadow, oldest first. Zero rows: none for now.
--   $1 shadow, $2 limit, $3 whether to look at all from done_until on
-- Without $3, while open transactions keep done_until where it is, it looks from a minute before the newest
-- verdict on: what was decided longer before and is committed only now is found with $3, or as soon as
-- done_until can move.
SELECT h.evidence_id, h.inputs, h.outcome, h.hold_rule,
       a.id AS action_id, a.kind, a.amount, a.currency, a.debtor_account, a.payee_name,
       a.payee_account, a.payee_alias, a.reference, a.end_to_end_id, a.channel,
       a.old_value_digest, a.new_value, a.limit_name
  FROM countersign.policy_shadow s
  JOIN countersign.policy_decision h
    ON h.decided_at >= CASE WHEN $3::boolean OR NOT countersign.shadow_waits(s) THEN s.done_until
            ELSE greatest(s.done_until, (SELECT max(v.decided_at) FROM countersign.shadow_verdict v
                                          WHERE v.shadow_id = $1) - interval '1 minute') END
   AND h.decided_at < countersign.shadow_end(s)
  JOIN countersign.action a ON a.id = h.action_id
 WHERE s.id = $1
   AND NOT EXISTS (SELECT FROM countersign.shadow_verdict v
                    WHERE v.shadow_id = $1 AND v.evidence_id = h.evidence_id)
 ORDER BY h.decided_at, h.evidence_id LIMIT $2;
