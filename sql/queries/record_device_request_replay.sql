-- Records the first replay of an accepted request. One row: recorded or lost_race.
--   $1 subject, $2 credential, $3 its seq, $4 nonce, $5 evidence (JSON)
SELECT countersign.record_device_request_replay($1, $2, $3, $4, $5) AS status;
