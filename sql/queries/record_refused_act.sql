-- Records that an act was refused when it was proposed. One row: recorded or lost_race.
--   $1 client, $2 the action that it is about or NULL, $3 evidence (JSON)
SELECT countersign.record_refused_act($1, $2, $3) AS status;
