-- Puts an order back. One row: false means that the lease was lost.
--   $1 action, $2 lease token, $3 after which time
SELECT countersign.retry_order($1, $2, $3) AS done;
