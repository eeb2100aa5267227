-- Records an answer that was not believed. One row: recorded or lost_race.
--   $1 act, $2 client, $3 challenge, $4 the person's key that the answer names or NULL, $5 evidence (JSON)
SELECT countersign.fail_act_signature($1, $2, $3, $4, $5) AS status;
