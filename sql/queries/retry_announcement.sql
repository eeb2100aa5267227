-- Puts an announcement back. One row: false means that the lease was lost.
--   $1 credential, $2 lease token, $3 after which time
SELECT countersign.retry_announcement($1, $2, $3) AS done;
