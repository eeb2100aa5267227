-- Ends an open act. One row: withdrawn or lost_race.
--   $1 act, $2 client, $3 evidence (JSON)
SELECT countersign.withdraw_act($1, $2, $3) AS status;
