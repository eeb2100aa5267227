-- The batch of events has arrived. One row; false means that the lease was lost.
--   $1 lease token
SELECT countersign.settle_event_push($1) AS done;
