-- Recovers a customer. One row: recovered, lost_race or token_used.
--   $1 subject, $2 customer version, $3 recovered at, $4 jti of the token, $5 the token's expiry,
--   $6 whether approvals are kept, $7 credentials that are not revoked, $8 the lengths of their chains,
--   $9 actions to cancel, $10 the lengths of their chains, $11 challenges and $12 questions to vouch that
--   end, $13 evidence (JSON); $4 and $5 may be NULL
SELECT countersign.recover_customer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS status;
