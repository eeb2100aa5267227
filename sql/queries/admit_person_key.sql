-- Records the last signature of an act that admits a key, and admits it. One row: done or lost_race.
--   $1 signature (JSON), $2 state of the key that signed (JSON), $3 evidence (JSON)
SELECT countersign.admit_person_key($1, $2, $3) AS status;
