-- Which checkpoints have the cosignatures that the policy asks for.
-- Deployment: one empty table and its function.
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

RESET ROLE;

ALTER FUNCTION countersign.record_quorum OWNER TO countersign_definer;
GRANT INSERT ON countersign.log_quorum TO countersign_definer;
GRANT SELECT ON countersign.log_quorum TO countersign_definer, countersign_service, countersign_auditor;
GRANT EXECUTE ON FUNCTION countersign.record_quorum TO countersign_service;
