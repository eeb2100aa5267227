-- An action whose hold people want to end, by itself or as an act names it. Zero rows: none of either.
--   $1 action or NULL, $2 act or NULL
SELECT a.id AS action_id, a.subject_id, k.wrapped, a.seq, a.head,
       CASE a.execution WHEN 'held' THEN a.hold_until END AS hold_until, a.hold_rule, a.hold_end, r.*
  FROM countersign.action a
  JOIN countersign.subject_key k ON k.subject_id = a.subject_id
 CROSS JOIN LATERAL countersign.against_release(a.id) r
 WHERE a.erased_at IS NULL AND (a.id = $1 OR a.id = (
       SELECT action_id FROM countersign.act
        WHERE id = $2 AND kind IN ('hold.release', 'hold.cancel')));
