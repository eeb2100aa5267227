-- What may be told beside the first record of a change: its own consequences, of the same customer, and no more.
-- Deployment: one function and one grant.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0005, where it looked at the first entry alone: whoever holds the service's connection could have told of
-- an execution beside the end of a key. Each consequence is then demanded by whatever brings it about.
CREATE OR REPLACE FUNCTION demand_evidence(entries jsonb, p_kind text, p_subject uuid) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    beside text[] := CASE p_kind
        WHEN 'credential.revoked' THEN ARRAY['action.cancelled']
        WHEN 'recovery' THEN ARRAY['credential.revoked', 'action.cancelled']
        WHEN 'action.approved' THEN ARRAY['action.held', 'payee.added']
        ELSE '{}' END;
BEGIN
    IF (entries -> 0 ->> 'kind' = p_kind
        AND NOT EXISTS (
            SELECT FROM jsonb_array_elements(entries) WITH ORDINALITY AS x (entry, n)
             WHERE ((entry ->> 'subject_id')::uuid = p_subject
                    AND (n = 1 OR entry ->> 'kind' = ANY (beside))) IS NOT TRUE)) IS NOT TRUE THEN
        RAISE EXCEPTION 'a change needs its evidence, and no other' USING ERRCODE = 'CS005';
    END IF;
END $$;

RESET ROLE;

-- An instance of before V0040 reads it for its metric.
GRANT SELECT ON countersign.audit_unsequenced TO countersign_service;
