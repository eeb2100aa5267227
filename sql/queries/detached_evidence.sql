-- The records of detached months that have their position in the log, each with the smallest ID that a record of the
-- oldest month here can have. Zero rows when no month was detached.
SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit, e.recorded_at,
       b.subject_id AS body_subject_id, b.salt, b.nonce, b.ciphertext, k.wrapped, false AS is_erased,
       (SELECT countersign.oldest_evidence()) AS oldest
  FROM countersign.evidence_known e
  JOIN countersign.log_leaf l ON l.evidence_id = e.id AND l.leaf_hash = e.leaf_hash
  LEFT JOIN countersign.evidence_body b ON b.evidence_id = e.id
  LEFT JOIN countersign.subject_key k ON k.subject_id = coalesce(b.subject_id, e.subject_id)
 WHERE e.kind = 'evidence.detached' ORDER BY e.id;
