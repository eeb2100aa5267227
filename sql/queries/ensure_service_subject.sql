-- Keeps the data key of events of the service itself, if there is none yet. Always one row.
--   $1 the wrapped key
SELECT countersign.ensure_service_subject($1);
