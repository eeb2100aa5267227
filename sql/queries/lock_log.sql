-- The log's state, locked. The edge is levels of hexadecimal hashes with a comma between.
SELECT l.origin, l.size, l.root, l.note,
       array_to_string(ARRAY(SELECT encode(e.hashes, 'hex')
           FROM unnest(l.edge) WITH ORDINALITY AS e (hashes, n) ORDER BY e.n), ',') AS edge
  FROM countersign.lock_log() l;
