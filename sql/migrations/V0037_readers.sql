-- What readers may see and say, and whose the bodies of refused proposals are.
-- Deployment: functions and grants only.

ALTER FUNCTION countersign.record_event OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0005; and the body of what a reader tells is the service's own. Tied to a customer, it would stand in the
-- way of erasing that customer, or go with it.
CREATE OR REPLACE FUNCTION record_event(p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    entry jsonb;
BEGIN
    FOR entry IN SELECT value FROM jsonb_array_elements(p_evidence) LOOP
        IF ((entry ->> 'kind' = 'evidence.read' OR entry ->> 'kind' = 'policy.published'
                AND pg_has_role(session_user, 'countersign_operator', 'MEMBER'))
            AND entry ->> 'subject_id' = '00000000-0000-0000-0000-000000000000'
            AND entry ->> 'body_subject_id' IS NULL AND is_plain_entry(entry)) IS NOT TRUE THEN
            RAISE EXCEPTION 'not an event of the service itself' USING ERRCODE = 'CS007';
        END IF;
    END LOOP;
    PERFORM write_evidence(p_evidence);
END $$;

-- As in V0026; what is refused about a customer's action is that customer's, and goes with it. The action is
-- locked, so that an erasure comes before or after: 'lost_race' when it was quicker.
DROP FUNCTION record_refused_act(uuid, jsonb);
CREATE FUNCTION record_refused_act(p_client uuid, p_action uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    owner uuid;
BEGIN
    IF role_of_person(p_client) IS NULL THEN
        RETURN 'lost_race';
    END IF;
    IF p_action IS NOT NULL THEN
        SELECT subject_id INTO owner FROM action WHERE id = p_action AND erased_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['act.refused']);
    IF EXISTS (SELECT FROM jsonb_array_elements(p_evidence) AS e (entry)
                WHERE (entry ->> 'body_subject_id')::uuid IS DISTINCT FROM owner) THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    PERFORM write_evidence(p_evidence);
    RETURN 'recorded';
END $$;

RESET ROLE;

ALTER FUNCTION countersign.record_event OWNER TO countersign_definer;
ALTER FUNCTION countersign.record_refused_act OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.record_refused_act TO countersign_service;
GRANT EXECUTE ON FUNCTION countersign.is_plain_entry TO countersign_definer;
-- Core banking's answer as it came, and its reason, may name people: they are in the bodies, for whoever has the
-- key.
REVOKE SELECT ON countersign.receipt FROM countersign_auditor;
GRANT SELECT (action_id, status, reference, evidence_id, received_at, erased_at) ON countersign.receipt
    TO countersign_auditor;
