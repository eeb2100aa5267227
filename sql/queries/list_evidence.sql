-- Records that match every filter that is given, oldest first. Zero rows means that none does.
--   $1 action, $2 customer_id, $3 credential, $4 kind, $5 not before, $6 before, $7 after this id,
--   $8 limit; all but the last may be NULL
SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit,
       e.recorded_at, c.customer_id, b.salt, b.nonce, b.ciphertext, k.wrapped
  FROM countersign.evidence e
  LEFT JOIN countersign.customer c ON c.subject_id = e.subject_id
  LEFT JOIN countersign.evidence_body b ON b.evidence_id = e.id
  LEFT JOIN countersign.subject_key k ON k.subject_id = e.subject_id
 WHERE ($1::uuid IS NULL OR e.action_id = $1)
   AND ($2::text IS NULL OR c.customer_id = $2)
   AND ($3::uuid IS NULL OR e.credential_id = $3)
   AND ($4::text IS NULL OR e.kind = $4)
   AND ($5::timestamptz IS NULL OR e.id >= countersign.uuid7_floor($5))
   AND ($6::timestamptz IS NULL OR e.id < countersign.uuid7_floor($6))
   AND ($7::uuid IS NULL OR e.id > $7)
 ORDER BY e.id LIMIT $8;
