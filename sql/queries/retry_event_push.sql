-- The batch of events has not arrived. One row; false means that the lease was lost.
--   $1 lease token, $2 after how long it is due again (interval)
SELECT countersign.retry_event_push($1, $2) AS done;
