-- The published checkpoint of a size, as the log signed it; zero rows when there is none. $1 the size
SELECT c.note FROM countersign.log_checkpoint c JOIN countersign.log_state s ON c.size <= s.published
 WHERE c.size = $1;
