-- Ends a shadow. One row: the status.
--   $1 client, $2 shadow, $3 ended_at, $4 evidence (JSON)
SELECT countersign.end_shadow($1, $2, $3, $4) AS status;
