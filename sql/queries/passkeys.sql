-- A customer's active passkeys, as a JSON array. Always one row.
--   $1 subject
SELECT countersign.active_passkeys($1) AS passkeys;
