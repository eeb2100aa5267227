-- Records of months that were detached, which stand in the log, each with the smallest ID that the oldest month
-- here can have; zero rows when none was.
SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit, e.recorded_at,
       (SELECT min(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \(''([0-9a-f-]{36})''\)'))
          FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'countersign.evidence'::regclass)::uuid AS oldest
  FROM countersign.evidence_known e
 WHERE e.kind = 'evidence.detached'
   AND EXISTS (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id AND l.leaf_hash = e.leaf_hash);
