-- Imports an existing payee of the bank. One row: imported, exists or not_signed.
--   $1 subject, $2 payee id, $3 account, $4 name, $5 alias, $6 time, $7 evidence (JSON),
--   $8 act and $9 the row's salt, both NULL in development only
SELECT countersign.import_payee($1, $2, $3, $4, $5, $6, $7, $8, $9) AS status;
