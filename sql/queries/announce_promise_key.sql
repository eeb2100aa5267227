-- Records a key of promises, unless that was done. $1 its verifier key, $2 the evidence
SELECT countersign.announce_promise_key($1, $2::jsonb);
