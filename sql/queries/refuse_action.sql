-- Records a good proof that the policy refuses. One row: refused, lost_race or tampered.
--   $1 subject, $2 customer version, $3 policy version, $4 action, $5 its seq, $6 challenge,
--   $7 credential, $8 its seq, $9 time of the load, $10 message, $11 sign count or NULL, $12 backup state,
--   $13 what was looked at, $14 evidence (JSON)
SELECT countersign.refuse_action($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS status;
