-- Forgets old decisions and verdicts of shadows. One row: how many.
--   $1 days that they are kept, $2 at most how many of each
SELECT countersign.forget_policy_decisions($1, $2) AS forgotten;
