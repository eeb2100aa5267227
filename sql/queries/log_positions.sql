-- Positions with their records, in order, also those that are kept of detached months; zero rows after the last.
--   $1 from this one on, $2 limit
SELECT l.position, l.evidence_id, l.leaf_hash AS logged_hash, e.id, e.xid::text AS xid, e.kind, e.action_id,
       e.subject_id, e.credential_id, e.leaf, e.leaf_hash, e.body_commit, e.recorded_at
  FROM countersign.log_leaf l
  LEFT JOIN LATERAL (SELECT * FROM countersign.evidence_known k WHERE k.id = l.evidence_id LIMIT 1) e ON true
 WHERE l.position >= $1 ORDER BY l.position LIMIT $2;
