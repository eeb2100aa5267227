-- Records a signature after which the act needs more. One row: signed or lost_race.
--   $1 signature (JSON), $2 state of the key (JSON), $3 evidence (JSON)
SELECT countersign.sign_act($1, $2, $3) AS status;
