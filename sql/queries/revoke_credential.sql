-- Revokes a credential and cancels what it approved. One row: revoked or lost_race.
--   $1 subject, $2 customer version, $3 credential, $4 its seq, $5 revoked at, $6 actions to cancel,
--   $7 the lengths of their chains, $8 challenges and $9 questions to vouch that end, $10 evidence (JSON)
SELECT countersign.revoke_credential($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS status;
