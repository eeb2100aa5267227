-- Opens the founding of a role again. One row: reopened, enough_people or lost_race.
--   $1 role, $2 clients who have an active key, $3 time, $4 evidence (JSON)
SELECT countersign.reopen_founding($1, $2, $3, $4) AS status;
