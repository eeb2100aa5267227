-- Waits until no other session migrates this database; held until the session ends. Always one row.
SELECT pg_advisory_lock(7001, 1);
