-- Removes a payee. One row: removed or lost_race.
--   $1 subject, $2 customer version, $3 payee, $4 evidence (JSON)
SELECT countersign.remove_payee($1, $2, $3, $4) AS status;
