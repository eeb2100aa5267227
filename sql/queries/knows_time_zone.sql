-- Whether a policy can count its days by a zone of that name. Always one row.
--   $1 name
SELECT countersign.time_zone_is_known($1) AS is_known;
