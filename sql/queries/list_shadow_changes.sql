-- The decisions that came to something else under a shadow, oldest first. Zero rows: none, or forgotten.
--   $1 shadow, $2 limit
SELECT v.action_id, v.kind, v.decided_at, v.before_outcome, v.before_rule, v.after_outcome, v.after_rule
  FROM countersign.policy_shadow s
  JOIN countersign.shadow_verdict v ON v.shadow_id = s.id
 WHERE s.id = $1 AND v.shadow_id = $1 AND s.forgotten_at IS NULL
   AND v.decided_at < countersign.shadow_end(s) AND v.after_outcome <> 'undecidable'
   AND (v.before_outcome, v.before_rule) IS DISTINCT FROM (v.after_outcome, v.after_rule)
 ORDER BY v.decided_at, v.evidence_id LIMIT $2;
