-- Stores a question about an act. One row: issued or lost_race.
--   $1 act, $2 challenge (JSON)
SELECT countersign.issue_act_challenge($1, $2) AS status;
