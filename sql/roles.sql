-- The roles of one cluster; run by `countersign migrate` as an administrator before the migrations,
-- and safe to run again. Nobody logs in as the owner, the definer or the eraser.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['countersign_owner', 'countersign_definer', 'countersign_eraser'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
    FOREACH name IN ARRAY ARRAY['countersign_service', 'countersign_operator', 'countersign_auditor',
                                'countersign_privacy'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', name);
        END IF;
    END LOOP;
END $$;
-- Messages are never matched, but logs should read the same everywhere.
ALTER ROLE countersign_service SET lc_messages = 'C';
ALTER ROLE countersign_service SET lock_timeout = '2s';
-- Below the service's own deadline of 4 s, so that a slow statement fails cleanly, before its commit.
ALTER ROLE countersign_service SET statement_timeout = '3500ms';
ALTER ROLE countersign_service SET idle_in_transaction_session_timeout = '5s';
ALTER ROLE countersign_privacy SET lc_messages = 'C';
ALTER ROLE countersign_privacy SET lock_timeout = '2s';
-- No transaction that writes evidence stays open for longer than some minutes: an export says until when it is whole.
ALTER ROLE countersign_privacy SET statement_timeout = '60s';
ALTER ROLE countersign_privacy SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE countersign_operator SET statement_timeout = '10min';
ALTER ROLE countersign_operator SET idle_in_transaction_session_timeout = '10s';
ALTER ROLE countersign_auditor SET idle_in_transaction_session_timeout = '10min';
