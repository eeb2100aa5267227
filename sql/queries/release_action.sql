-- Ends a hold. One row: released, cancelled or lost_race.
--   $1 subject, $2 customer version, $3 action, $4 its seq, $5 cancel instead, $6 evidence (JSON)
SELECT countersign.release_action($1, $2, $3, $4, $5, $6) AS status;
