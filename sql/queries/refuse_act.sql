-- Records that the last signature of an act about an action was refused. One row: refused or lost_race.
--   $1 signature (JSON), $2 state of the key that signed (JSON), $3 who has signed before, $4 evidence (JSON)
SELECT countersign.refuse_act($1, $2, $3, $4) AS status;
