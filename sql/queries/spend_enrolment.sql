-- Spends an enrolment by a finish that failed. One row: spent or lost_race.
--   $1 subject, $2 customer failures so far, $3 enrolment, $4 challenge that was answered wrongly or
--   NULL, $5 credential that it named or NULL, $6 its seq, $7 locked until or NULL, $8 evidence (JSON)
SELECT countersign.spend_enrolment($1, $2, $3, $4, $5, $6, $7, $8) AS status;
