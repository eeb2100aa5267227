-- For how many seconds the oldest record has waited for its position. Always one row; 0 when none waits.
-- One that a batch will take was not visible in the last batch's snapshot: by that it is found without a scan. Where
-- the counter of transactions went backwards that says nothing, and what is younger than the last position waits.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - w.recorded_at)), 0)::bigint AS seconds
  FROM (SELECT e.recorded_at FROM countersign.evidence e
         WHERE e.xid >= coalesce((SELECT pg_snapshot_xmin(s.snapshot) FROM countersign.log_state s), '0'::xid8)
           AND NOT EXISTS (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id)
        UNION ALL
        (SELECT e.recorded_at FROM countersign.log_state s
           JOIN countersign.evidence e
             ON e.id > (SELECT l.evidence_id FROM countersign.log_leaf l ORDER BY l.position DESC LIMIT 1)
          WHERE (s.rewound OR pg_snapshot_xmax(s.snapshot) > pg_snapshot_xmax(pg_current_snapshot()))
            AND NOT EXISTS (SELECT FROM countersign.log_leaf l WHERE l.evidence_id = e.id)
          ORDER BY e.id LIMIT 1)) w;
