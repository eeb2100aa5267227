-- What is kept of a detached month. Always one row.
--   $1 its first day
SELECT kept, kept_digest FROM countersign.evidence_kept_of($1::date);
