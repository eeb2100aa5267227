-- Whether there is a time zone of that name. Always one row.
--   $1 name
SELECT EXISTS (SELECT FROM pg_catalog.pg_timezone_names WHERE name = $1) AS is_known;
