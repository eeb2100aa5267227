-- Records the last signature of an act about a hold, and ends the hold. One row: done or lost_race.
--   $1 signature (JSON), $2 state of the key that signed (JSON), $3 who has signed before,
--   $4 evidence of the act (JSON), $5 evidence of the action (JSON)
SELECT countersign.end_hold($1, $2, $3, $4, $5) AS status;
