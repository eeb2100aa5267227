-- Decisions of a policy in a period, oldest first. Zero rows means that there are no more.
--   $1 from, $2 until (not included), $3 after this time or NULL, $4 after this evidence id or NULL, $5 limit
SELECT h.evidence_id, h.decided_at, h.inputs, h.outcome, h.hold_rule,
       a.id AS action_id, a.kind, a.amount, a.currency, a.debtor_account, a.payee_name,
       a.payee_account, a.payee_alias, a.reference, a.end_to_end_id, a.channel,
       a.old_value_digest, a.new_value, a.limit_name
  FROM countersign.policy_decision h
  JOIN countersign.action a ON a.id = h.action_id
 WHERE h.decided_at >= coalesce($3::timestamptz, $1::timestamptz) AND h.decided_at < $2
   -- The line above begins where the page before ended; this leaves out what that page had of the same time.
   AND ($3::timestamptz IS NULL OR (h.decided_at, h.evidence_id) > ($3, $4::uuid))
 ORDER BY h.decided_at, h.evidence_id LIMIT $5;
