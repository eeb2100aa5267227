-- The newest timestamp of each authority; zero rows before the first.
SELECT DISTINCT ON (t.authority) t.authority, t.size, t.stamped_at
  FROM countersign.log_timestamp t ORDER BY t.authority, t.size DESC;
