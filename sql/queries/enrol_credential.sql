-- Registers a credential. One row: enrolled, lost_race, token_used or credential_exists.
--   $1 subject, $2 customer version, $3 policy version, $4 enrolment, $5 its message,
--   $6 challenge that was answered, $7 its message, $8 credential that answered, $9 its seq,
--   $10 its sign count, $11 its backup state, $12 jti of the token, $13 the token's expiry,
--   $14 credential (JSON), $15 evidence (JSON);
--   $6 to $11, or $12 and $13, or all of these NULL
SELECT countersign.enrol_credential($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
       AS status;
