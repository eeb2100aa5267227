-- Whether evidence tells of a key of the log; zero rows when it does not. $1 its verifier key
SELECT 1 AS known FROM countersign.log_key WHERE verifier_key = $1;
