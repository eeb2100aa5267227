-- Whether records are missing at positions, and all of months that were detached. Always one row.
--   $1 the first, $2 after the last
SELECT coalesce(bool_and(l.evidence_id < countersign.detached_until()), false) AS is_detached
  FROM countersign.log_leaf l LEFT JOIN countersign.evidence e ON e.id = l.evidence_id
 WHERE l.position >= $1 AND l.position < $2 AND e.id IS NULL;
