-- The approving transaction. One row: approved, lost_race or tampered.
--   $1 subject, $2 customer version, $3 policy version, $4 action, $5 its seq, $6 challenge,
--   $7 credential, $8 its seq, $9 time of the load, $10 message, $11 signature, $12 clientDataJSON,
--   $13 authenticatorData, $14 assertion digest, $15 sign count or NULL, $16 backup state, $17 bank day,
--   $18 hold until, $19 hold rule, $20 hold end, $21 dimensions, $22 windows, $23 amounts, $24 caps,
--   $25 ceilings (JSON) or NULL, $26 payee (JSON), $27 whether the account is no payee,
--   $28 contact hold until, $29 what an own limit was or NULL, $30 what was looked at, $31 evidence (JSON)
SELECT countersign.approve_action($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
    $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31) AS status;
