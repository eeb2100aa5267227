-- Writes evidence of something that changes no other row. Always one row.
--   $1 evidence (JSON)
SELECT countersign.record_event($1);
