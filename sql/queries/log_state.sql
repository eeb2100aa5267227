-- The state of the log, and what is stored beside it; zero rows before it was opened. The edge as in lock_log.
SELECT s.origin, s.size, s.root, s.snapshot::text AS snapshot, s.published,
       -- Between a commit and its publication it is the one before.
       coalesce((SELECT p.number >= c.length - 1 FROM countersign.log_checkpoint p WHERE p.size = s.published),
                s.published IS NULL AND coalesce(c.length, 0) <= 1) AS is_published,
       array_to_string(ARRAY(SELECT encode(e.hashes, 'hex')
           FROM unnest(s.edge) WITH ORDINALITY AS e (hashes, n) ORDER BY e.n), ',') AS edge,
       (SELECT count(*) FROM countersign.log_tile) AS tiles,
       EXISTS (SELECT FROM countersign.log_leaf l WHERE l.position >= s.size)
           OR EXISTS (SELECT FROM countersign.log_checkpoint c WHERE c.size > s.size) AS has_more,
       coalesce(c.length, 0) AS checkpoint_number, coalesce(c.link, '') AS checkpoint_link,
       coalesce(k.length, 0) AS cosignature_number, coalesce(k.link, '') AS cosignature_link,
       coalesce(t.length, 0) AS timestamp_number, coalesce(t.link, '') AS timestamp_link,
       (SELECT count(*) FROM countersign.log_checkpoint) AS checkpoints,
       (SELECT count(*) FROM countersign.log_cosignature) AS cosignatures,
       (SELECT count(*) FROM countersign.log_timestamp) AS timestamps
  FROM countersign.log_state s
  LEFT JOIN countersign.log_chain c ON c.name = 'checkpoint'
  LEFT JOIN countersign.log_chain k ON k.name = 'cosignature'
  LEFT JOIN countersign.log_chain t ON t.name = 'timestamp';
