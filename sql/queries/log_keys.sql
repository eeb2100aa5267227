-- The keys of the log with the records that they name and their positions; zero rows before the first.
SELECT k.verifier_key, k.evidence_id, l.position, l.leaf_hash AS logged_hash, e.id, e.kind, e.action_id, e.subject_id,
       e.credential_id, e.leaf, e.leaf_hash, e.body_commit, e.recorded_at
  FROM countersign.log_key k
  LEFT JOIN countersign.log_leaf l ON l.evidence_id = k.evidence_id
  LEFT JOIN LATERAL (SELECT * FROM countersign.evidence_known e WHERE e.id = k.evidence_id LIMIT 1) e ON true;
