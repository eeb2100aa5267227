-- Records a migration in its own transaction. No rows.
--   $1 version, $2 name, $3 SHA-256 of the file
INSERT INTO countersign_migration.applied (version, name, sha256) VALUES ($1, $2, $3);
