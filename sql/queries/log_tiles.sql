-- Tiles: full ones by place, and all at the right edge; those that do not exist are left out. $1 levels, $2 indexes
SELECT t.level, t.index, t.hashes
  FROM countersign.log_tile t
  JOIN unnest($1::smallint[], $2::bigint[]) AS w (level, index) USING (level, index)
UNION ALL
SELECT e.n - 1, div(s.size::numeric, 256::numeric ^ e.n)::bigint, e.hashes
  FROM countersign.log_state s, unnest(s.edge) WITH ORDINALITY AS e (hashes, n)
 WHERE e.hashes <> '';
