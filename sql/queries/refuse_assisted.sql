-- Records that the last signature of an act that approves an action was refused by the policy, or because
-- the customer has a key. One row: refused or lost_race.
--   $1 signature (JSON), $2 state of the key that signed (JSON), $3 who has signed before,
--   $4 customer version, $5 policy version, $6 the action's seq, $7 time of the load,
--   $8 what was looked at, NULL when no policy was asked, $9 evidence of the act (JSON),
--   $10 evidence of the action (JSON)
SELECT countersign.refuse_assisted($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS status;
