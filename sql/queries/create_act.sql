-- Stores an act with the question to its proposer. One row: created, too_many_open or lost_race.
--   $1 act (JSON), $2 challenge (JSON), $3 most open
SELECT countersign.create_act($1, $2, $3) AS status;
