-- Stores an enrolment. One row: begun or too_many_open.
--   $1 subject, $2 most open enrolments, $3 enrolment, $4 kind, $5 label, $6 user handle or NULL,
--   $7 message, $8 created at, $9 expires at
SELECT countersign.begin_enrolment($1, $2, $3, $4, $5, $6, $7, $8, $9) AS status;
