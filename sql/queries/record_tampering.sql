-- Records that message and action disagree. One row: recorded or lost_race.
--   $1 subject, $2 action, $3 its seq, $4 evidence (JSON)
SELECT countersign.record_tampering($1, $2, $3, $4) AS status;
