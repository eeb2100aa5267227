-- Cancels an action. One row: cancelled or lost_race.
--   $1 subject, $2 action, $3 its seq, $4 evidence (JSON)
SELECT countersign.cancel_action($1, $2, $3, $4) AS status;
