-- Rejects an action. One row: rejected, lost_race or tampered.
--   $1 subject, $2 customer version, $3 policy version, $4 action, $5 its seq, $6 challenge,
--   $7 credential, $8 its seq, $9 time of the load, $10 message, $11 assertion digest,
--   $12 sign count or NULL, $13 backup state, $14 evidence (JSON); $6 to $8 and $10 to $13 NULL if
--   unsigned
SELECT countersign.reject_action($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS status;
