-- Records the last signature of an act payee.import. One row: done or lost_race.
--   $1 signature (JSON), $2 state of its key (JSON), $3 evidence (JSON)
SELECT countersign.allow_import($1, $2, $3) AS status;
