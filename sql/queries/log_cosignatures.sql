-- Cosignatures as they were recorded, with their checkpoints; zero rows after the last.
--   $1 after this number, $2 limit
SELECT k.number, k.link, k.size, k.witness AS name, countersign.microseconds(k.cosigned_at)::bigint AS microseconds,
       k.line, c.note
  FROM countersign.log_cosignature k LEFT JOIN countersign.log_checkpoint c ON c.size = k.size
 WHERE k.number > $1 ORDER BY k.number LIMIT $2;
