-- Imports an existing payee of the bank. One row: imported or exists.
--   $1 subject, $2 payee id, $3 account, $4 name, $5 alias, $6 time, $7 evidence (JSON)
SELECT countersign.import_payee($1, $2, $3, $4, $5, $6, $7) AS status;
