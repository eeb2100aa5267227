-- Checkpoints in order; zero rows after the last. $1 of this size and larger ones, $2 limit
SELECT c.size, c.root, c.snapshot::text AS snapshot, c.note, c.number, c.link FROM countersign.log_checkpoint c
 WHERE c.size >= $1 ORDER BY c.size LIMIT $2;
