-- Says whether the database is for development, as its owner. One row: what holds from now on.
--   $1 whether it is
SELECT countersign.state_installation($1) AS is_development;
