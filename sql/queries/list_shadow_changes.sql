-- The decisions that came to something else under a shadow, oldest first. Zero rows: none.
--   $1 shadow, $2 limit
SELECT v.action_id, v.kind, v.decided_at, v.before_outcome, v.before_rule, v.after_outcome, v.after_rule
  FROM countersign.shadow_verdict v
 WHERE v.shadow_id = $1 AND v.after_outcome <> 'undecidable'
   AND (v.before_outcome, v.before_rule) IS DISTINCT FROM (v.after_outcome, v.after_rule)
 ORDER BY v.decided_at, v.evidence_id LIMIT $2;
