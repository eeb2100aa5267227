-- Forgets accepted requests that can no longer be good. One row: how many.
--   $1 at most how many
SELECT countersign.forget_device_requests($1) AS forgotten;
