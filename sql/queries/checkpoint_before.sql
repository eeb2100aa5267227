-- The largest checkpoint of at most this size; zero rows when there is none. $1 the size
SELECT c.size, c.root, c.snapshot::text AS snapshot, c.note, c.number, c.link FROM countersign.log_checkpoint c
 WHERE c.size <= $1 ORDER BY c.size DESC LIMIT 1;
