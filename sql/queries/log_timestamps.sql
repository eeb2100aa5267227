-- Timestamps as they were recorded, with their checkpoints; zero rows after the last.
--   $1 after this number, $2 limit
SELECT t.number, t.link, t.size, t.authority AS name, countersign.microseconds(t.stamped_at)::bigint AS microseconds,
       t.response, c.note
  FROM countersign.log_timestamp t LEFT JOIN countersign.log_checkpoint c ON c.size = t.size
 WHERE t.number > $1 ORDER BY t.number LIMIT $2;
