-- Whether evidence tells of a key of promises; zero rows when it does not. $1 its verifier key
SELECT 1 AS known FROM countersign.promise_key WHERE verifier_key = $1;
