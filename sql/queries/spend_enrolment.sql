-- Spends an enrolment by a finish that failed. One row: spent or lost_race.
--   $1 subject, $2 customer failures so far, $3 enrolment, $4 challenge that was answered wrongly or
--   NULL, $5 credential that it named or NULL, $6 its seq, $7 challenges and $8 questions to vouch that
--   end with the credential or NULL, $9 locked until or NULL, $10 evidence (JSON)
SELECT countersign.spend_enrolment($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS status;
