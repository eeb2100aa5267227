-- Records of months that were detached, which stand in the log; zero rows when none was.
SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit, e.recorded_at
  FROM countersign.evidence_known e
 WHERE e.kind = 'evidence.detached'
   AND EXISTS (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id AND l.leaf_hash = e.leaf_hash);
