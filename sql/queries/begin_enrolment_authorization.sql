-- Stores a question by which an active credential vouches. One row: issued or lost_race.
--   $1 subject, $2 enrolment, $3 challenge, $4 key digest, $5 message, $6 expires at
SELECT countersign.begin_enrolment_authorization($1, $2, $3, $4, $5, $6) AS status;
