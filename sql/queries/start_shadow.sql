-- Begins a shadow. One row: the status.
--   $1 client, $2 shadow (JSON), $3 evidence (JSON)
SELECT countersign.start_shadow($1, $2, $3) AS status;
