-- Records the last signature of a policy's act, and publishes the policy. One row: done or lost_race.
--   $1 signature (JSON), $2 state of the key (JSON), $3 version, $4 active_from, $5 evidence (JSON)
SELECT countersign.publish_policy($1, $2, $3, $4, $5) AS status;
