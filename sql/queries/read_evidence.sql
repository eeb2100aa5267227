-- One record. Zero rows means that there is none.
--   $1 evidence id
SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit,
       e.recorded_at, c.customer_id, b.subject_id AS body_subject_id, b.salt, b.nonce, b.ciphertext, k.wrapped,
       b.evidence_id IS NULL AND k.subject_id IS NOT NULL AND k.wrapped IS NULL AS is_erased
  FROM countersign.evidence_known e
  LEFT JOIN countersign.customer c ON c.subject_id = e.subject_id
  LEFT JOIN countersign.evidence_body b ON b.evidence_id = e.id
  LEFT JOIN countersign.subject_key k ON k.subject_id = coalesce(b.subject_id, e.subject_id)
 WHERE e.id = $1;
