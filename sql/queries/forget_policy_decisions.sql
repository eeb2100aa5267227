-- Forgets old decisions, and shadows that ended as long ago. One row.
--   $1 days that they are kept, $2 at most how many decisions, and verdicts
SELECT countersign.forget_policy_decisions($1, $2) AS forgotten;
