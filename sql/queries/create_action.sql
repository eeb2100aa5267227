-- Stores an action. One row: created, idempotency_exists, external_id_exists or too_many_open.
--   $1 subject, $2 client, $3 route, $4 key, $5 fingerprint, $6 answer, $7 open challenges at most,
--   $8 action (JSON by column), $9 challenge (JSON by column), $10 evidence (JSON)
SELECT countersign.create_action($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS status;
