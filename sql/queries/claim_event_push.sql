-- Takes the batch of events that is due. One row; lease_token is NULL when none is.
--   $1 how many at most, $2 lease (interval)
SELECT p.claimed_at, p.waiting, p.waiting_since, p.lease_token, p.after_place, p.last_place, p.attempt
  FROM countersign.claim_event_push($1, $2) p;
