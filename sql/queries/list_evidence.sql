-- Records that match a filter, oldest first. Zero rows means that none does.
--   $1 the filter (JSON, see countersign.find_evidence), $2 after this id or NULL, $3 limit
SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit,
       e.recorded_at, c.customer_id, b.subject_id AS body_subject_id, b.salt, b.nonce, b.ciphertext, k.wrapped,
       b.evidence_id IS NULL AND k.subject_id IS NOT NULL AND k.wrapped IS NULL AS is_erased
  FROM countersign.find_evidence($1, $2, $3) AS f (id)
  -- Each by its key: a join that may be merged walks from the first record to this page, each time.
  JOIN LATERAL (SELECT * FROM countersign.evidence_known x WHERE x.id = f.id LIMIT 1) e ON true
  LEFT JOIN countersign.customer c ON c.subject_id = e.subject_id
  LEFT JOIN LATERAL (SELECT * FROM countersign.evidence_body x WHERE x.evidence_id = f.id LIMIT 1) b ON true
  LEFT JOIN countersign.subject_key k ON k.subject_id = coalesce(b.subject_id, e.subject_id)
 ORDER BY f.id;
