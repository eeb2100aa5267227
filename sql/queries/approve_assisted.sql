-- Records the last signature of an act that approves an action, and approves it. One row: done or lost_race.
--   $1 signature (JSON), $2 state of the key that signed (JSON), $3 who has signed before,
--   $4 customer version, $5 policy version, $6 the action's seq, $7 time of the load, $8 bank day,
--   $9 hold until, $10 hold rule, $11 hold end, $12 dimensions, $13 windows, $14 amounts, $15 caps,
--   $16 ceilings (JSON) or NULL, $17 payee (JSON) or NULL, $18 whether the account is no payee,
--   $19 contact hold until, $20 what was looked at, $21 evidence of the act (JSON),
--   $22 evidence of the action (JSON)
SELECT countersign.approve_assisted($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
    $17, $18, $19, $20, $21, $22) AS status;
