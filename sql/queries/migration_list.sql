-- What was applied, oldest first. Zero rows means nothing yet.
SELECT version, name, sha256 FROM countersign_migration.applied ORDER BY version;
