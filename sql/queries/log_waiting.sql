-- For how many seconds the oldest record has waited that a batch will take. Always one row; 0 when none waits.
-- Such a record's transaction was not visible in the last batch's snapshot: by that it is found without a scan.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - e.recorded_at)), 0)::bigint AS seconds
  FROM countersign.evidence e
 WHERE e.xid >= coalesce((SELECT pg_snapshot_xmin(s.snapshot) FROM countersign.log_state s), '0'::xid8)
   AND NOT EXISTS (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id);
