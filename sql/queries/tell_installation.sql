-- Records as evidence whether the installation is for development. One row: told, exists or lost_race.
--   $1 evidence (JSON)
SELECT countersign.tell_installation($1) AS status;
