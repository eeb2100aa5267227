-- For how many seconds the oldest record has waited that no batch has. Always one row; 0 when none waits.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - e.recorded_at)), 0)::bigint AS seconds
  FROM countersign.evidence e
 WHERE e.xid >= coalesce((SELECT pg_snapshot_xmin(snapshot) FROM countersign.log_state), '0'::xid8)
   AND NOT EXISTS (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id);
