-- The keys of the log, each with its record's position; zero rows before the first.
SELECT k.verifier_key, k.evidence_id, l.position, e.id IS NOT NULL AS has_record
  FROM countersign.log_key k
  LEFT JOIN countersign.log_leaf l ON l.evidence_id = k.evidence_id
  LEFT JOIN countersign.evidence e ON e.id = k.evidence_id;
