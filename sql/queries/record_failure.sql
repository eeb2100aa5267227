-- Counts a failed attempt. One row: recorded or lost_race.
--   $1 subject, $2 customer failures so far, $3 action, $4 its seq, $5 challenge, $6 exhausted,
--   $7 action failed, $8 credential or NULL, $9 its seq, $10 challenges and $11 questions to vouch that
--   end with the credential or NULL, $12 locked until or NULL, $13 evidence (JSON)
SELECT countersign.record_failure($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
       AS status;
