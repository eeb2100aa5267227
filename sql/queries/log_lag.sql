-- How long the oldest record waits for its position, in milliseconds: 0 when none does. Only a recent record
-- can: what is older waits in a transaction that has not committed.
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(e.recorded_at)) * 1000, 0)::bigint AS lag_ms
  FROM countersign.evidence e, countersign.log_state s
 WHERE e.xid >= coalesce(pg_snapshot_xmin(s.snapshot), '0'::xid8)
   AND NOT pg_visible_in_snapshot(e.xid, coalesce(s.snapshot, '1:1:'::pg_snapshot));
