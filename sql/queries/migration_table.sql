-- The record of what was applied, in a schema of its own: nothing of the service can write there.
-- A script, safe to run again; the roles have to exist.
CREATE SCHEMA IF NOT EXISTS countersign_migration;
CREATE TABLE IF NOT EXISTS countersign_migration.applied (
    version    int NOT NULL CONSTRAINT applied_pkey PRIMARY KEY,
    name       text NOT NULL,
    -- Of the file as it was applied.
    sha256     bytea NOT NULL CONSTRAINT applied_sha256_size CHECK (octet_length(sha256) = 32),
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT USAGE ON SCHEMA countersign_migration
    TO countersign_service, countersign_operator, countersign_auditor;
GRANT SELECT ON countersign_migration.applied
    TO countersign_service, countersign_operator, countersign_auditor;
