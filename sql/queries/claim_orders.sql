-- Leases orders that are due and tells all that is delivered. Zero rows means that none is due.
--   $1 how many at most, $2 length of the lease, $3 whether new keys are told of in the same answer
SELECT o.*, clock_timestamp() AS claimed_at FROM countersign.claim_orders($1, $2, $3) o;
