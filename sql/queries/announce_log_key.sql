-- Records a key of the log, unless that was done. $1 its verifier key, $2 the evidence
SELECT countersign.announce_log_key($1, $2::jsonb);
