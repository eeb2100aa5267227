-- Records a recovery that nobody entitled asked for. One row: recorded.
--   $1 subject, $2 evidence (JSON)
SELECT countersign.record_refused_recovery($1, $2) AS status;
