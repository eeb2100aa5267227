-- Records a key of a person. One row: registered, lost_race or key_exists.
--   $1 client, $2 registration, $3 its message, $4 key (JSON), $5 evidence (JSON)
SELECT countersign.register_person_key($1, $2, $3, $4, $5) AS status;
