-- Gives the lead of the log up, as often as it was taken.
SELECT pg_advisory_unlock(7003, 1) AS was_held;
