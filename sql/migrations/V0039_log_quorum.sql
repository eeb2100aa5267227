-- Which checkpoints have the cosignatures that the policy asks for.
-- Deployment: two empty tables and their functions.
--
-- A witness is asked every ten seconds and a checkpoint is made twice a second, so that the newest one hardly ever
-- has a quorum. This says which one to show to whoever wants one. It is a pointer and no testimony: who is shown a
-- checkpoint verifies its cosignatures.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

CREATE TABLE log_quorum (size bigint PRIMARY KEY REFERENCES log_checkpoint);

-- The checkpoint of that size, which was published, has its quorum; to say it again changes nothing.
CREATE FUNCTION record_quorum(p_size bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_published(p_size);
    INSERT INTO log_quorum (size) VALUES (p_size) ON CONFLICT DO NOTHING;
END $$;

-- The largest checkpoint that anybody was shown: whoever saw it would take a smaller one for a log that was set back.
CREATE TABLE log_shown (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    size bigint NOT NULL REFERENCES log_checkpoint
);

-- The size of the checkpoint to show, never smaller than one before: the newest with a quorum, where one is
-- demanded and there is one, else the newest. NULL before the first.
CREATE FUNCTION show_log(p_demands_quorum boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    newest bigint := (SELECT published FROM log_state);
    shown bigint := (SELECT size FROM log_shown);
    found bigint := newest;
BEGIN
    IF p_demands_quorum THEN
        found := coalesce((SELECT max(q.size) FROM log_quorum q WHERE q.size <= newest), newest);
    END IF;
    IF found > coalesce(shown, -1) THEN
        INSERT INTO log_shown AS s (size) VALUES (found)
            ON CONFLICT (single) DO UPDATE SET size = greatest(s.size, excluded.size)
            RETURNING s.size INTO shown;
    END IF;
    RETURN shown;
END $$;

RESET ROLE;

ALTER FUNCTION countersign.show_log OWNER TO countersign_definer;
GRANT SELECT, INSERT ON countersign.log_shown TO countersign_definer;
GRANT UPDATE (size) ON countersign.log_shown TO countersign_definer;
GRANT SELECT ON countersign.log_shown TO countersign_auditor;
GRANT EXECUTE ON FUNCTION countersign.show_log TO countersign_service, countersign_auditor;
ALTER FUNCTION countersign.record_quorum OWNER TO countersign_definer;
GRANT INSERT ON countersign.log_quorum TO countersign_definer;
GRANT SELECT ON countersign.log_quorum TO countersign_definer, countersign_service, countersign_auditor;
GRANT EXECUTE ON FUNCTION countersign.record_quorum TO countersign_service;
