-- Opens a registration. One row: begun, too_many_open or lost_race.
--   $1 client, $2 user handle, $3 most open, $4 registration, $5 label, $6 message, $7 created_at,
--   $8 expires_at
SELECT countersign.begin_person_key($1, $2, $3, $4, $5, $6, $7, $8) AS status;
