-- Adds a client. One row: added or exists.
--   $1 client id, $2 name, $3 role, $4 SHA-256 of its key or NULL,
--   $5 subject alternative name of its certificate or NULL, $6 evidence (JSON)
SELECT countersign.add_client($1, $2, $3, $4, $5, $6) AS status;
