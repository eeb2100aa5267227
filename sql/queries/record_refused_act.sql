-- Records that an act was refused when it was proposed. One row: recorded or lost_race.
--   $1 client, $2 evidence (JSON)
SELECT countersign.record_refused_act($1, $2) AS status;
