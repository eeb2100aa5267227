-- Spends a registration that failed. One row: spent or lost_race.
--   $1 client, $2 registration, $3 evidence (JSON)
SELECT countersign.spend_person_key_registration($1, $2, $3) AS status;
