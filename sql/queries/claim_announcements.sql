-- Leases announcements of keys that are due. Zero rows means that none is due.
--   $1 how many at most, $2 length of the lease
SELECT n.*, clock_timestamp() AS claimed_at FROM countersign.claim_announcements($1, $2) n;
