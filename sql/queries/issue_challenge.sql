-- Stores another challenge. One row: issued, lost_race or too_many_open.
--   $1 subject, $2 action, $3 its seq, $4 open challenges at most, $5 challenge (JSON), $6 evidence (JSON)
SELECT countersign.issue_challenge($1, $2, $3, $4, $5, $6) AS status;
