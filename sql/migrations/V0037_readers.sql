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

-- As in V0033, and some kinds are only for the functions that do what they tell: a record that excuses what is
-- missing is written by nobody else, whatever else it is given beside.
CREATE OR REPLACE FUNCTION write_evidence(entries jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM jsonb_to_recordset(entries) AS e (kind text)
                WHERE current_user <> CASE WHEN e.kind = 'evidence.detached' THEN 'countersign_owner'
                    WHEN e.kind LIKE 'subject.%' THEN 'countersign_eraser' ELSE current_user END) THEN
        RAISE EXCEPTION 'not for this function to tell' USING ERRCODE = 'CS005';
    END IF;
    INSERT INTO evidence (id, kind, action_id, subject_id, credential_id, leaf, body_commit)
    SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id,
           decode(e.leaf, 'hex'), decode(e.body_commit, 'hex')
      FROM jsonb_to_recordset(entries)
           AS e (id uuid, kind text, action_id uuid, subject_id uuid, credential_id uuid,
                 leaf text, body_commit text);
    IF EXISTS (SELECT FROM jsonb_to_recordset(entries) AS e (body_subject_id uuid, subject_id uuid)
                 JOIN erasure x ON x.subject_id = e.body_subject_id) THEN
        RAISE EXCEPTION 'this customer was erased' USING ERRCODE = 'CS011';
    END IF;
    INSERT INTO evidence_body (evidence_id, subject_id, salt, nonce, ciphertext)
    SELECT e.id, coalesce(e.body_subject_id, e.subject_id), decode(e.salt, 'hex'), decode(e.nonce, 'hex'),
           decode(e.ciphertext, 'hex')
      FROM jsonb_to_recordset(entries)
           AS e (id uuid, subject_id uuid, body_subject_id uuid, salt text, nonce text, ciphertext text);
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
