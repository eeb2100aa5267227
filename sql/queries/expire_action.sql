-- Writes that an action's time ran out. One row: expired or lost_race.
--   $1 subject, $2 action, $3 its seq, $4 evidence (JSON)
SELECT countersign.expire_action($1, $2, $3, $4) AS status;
