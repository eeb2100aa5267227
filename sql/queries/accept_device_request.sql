-- Accepts a signed request by remembering its nonce. One row: accepted or lost_race.
--   $1 credential, $2 nonce, $3 the call's own ID, $4 the phone's time in seconds since 1970
SELECT countersign.accept_device_request($1, $2, $3, $4) AS status;
