-- The state of the log; zero rows before it was opened. The edge as in lock_log.
SELECT s.origin, s.size, s.root, s.snapshot::text AS snapshot, s.published,
       EXISTS (SELECT FROM countersign.log_checkpoint c WHERE c.size = s.published) AS is_published,
       array_to_string(ARRAY(SELECT encode(e.hashes, 'hex')
           FROM unnest(s.edge) WITH ORDINALITY AS e (hashes, n) ORDER BY e.n), ',') AS edge,
       (SELECT count(*) FROM countersign.log_tile) AS tiles,
       EXISTS (SELECT FROM countersign.log_leaf l WHERE l.position >= s.size)
           OR EXISTS (SELECT FROM countersign.log_checkpoint c WHERE c.size > s.size) AS has_more
  FROM countersign.log_state s;
