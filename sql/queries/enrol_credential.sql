-- Registers a credential. One row: enrolled, lost_race, token_used or credential_exists.
--   $1 subject, $2 customer version, $3 enrolment, $4 its message, $5 challenge that was answered,
--   $6 its message, $7 credential that answered, $8 its seq, $9 its sign count, $10 its backup state,
--   $11 jti of the token, $12 the token's expiry, $13 credential (JSON), $14 evidence (JSON);
--   $5 to $10, or $11 and $12, or all of these NULL
SELECT countersign.enrol_credential($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
       AS status;
