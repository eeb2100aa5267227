-- Core banking took note of a key. One row: false means that the lease was lost.
--   $1 credential, $2 lease token
SELECT countersign.settle_announcement($1, $2) AS done;
