-- What officers are refused is evidence, as what a customer is refused: the last signature of an act about an
-- action is recorded with the reason, and its question is spent.
-- Deployment: functions only.
--
-- Locks: customer, action, act, its challenge, keys of people by ID, as in V0018.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Whether all that a signature was verified on still holds, and it is, or is not, the last that the act
-- needs: p_last. Locks the act, the challenge and the keys. The parameters are those of take_act_signature,
-- of which this was a part.
CREATE FUNCTION act_signature_stands(p_kinds text[], p_last boolean, p_signature jsonb, p_key_state jsonb)
RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    s act_signature := jsonb_populate_record(NULL::act_signature, p_signature);
    the_act act;
    the_challenge act_challenge;
    the_key person_key;
    subject_key_id uuid;
    at timestamptz;
BEGIN
    SELECT * INTO the_act FROM act WHERE id = s.act_id FOR UPDATE;
    SELECT * INTO the_challenge FROM act_challenge WHERE id = s.challenge_id FOR UPDATE;
    IF the_act.kind = 'person_key.admit' THEN
        subject_key_id := (convert_from(the_act.document, 'UTF8')::jsonb ->> 'key_id')::uuid;
    END IF;
    -- The keys of all who have signed: none of them is revoked from here to the commit.
    PERFORM 1 FROM person_key WHERE id = s.person_key_id OR id = subject_key_id
        OR id IN (SELECT person_key_id FROM act_signature WHERE act_id = s.act_id) ORDER BY id FOR UPDATE;
    SELECT * INTO the_key FROM person_key WHERE id = s.person_key_id;
    at := clock_timestamp();
    -- IS TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    RETURN (the_act.kind = ANY (p_kinds) AND the_act.state = 'open' AND the_act.expires_at > at
        AND s.signed_at BETWEEN at - decision_age_max() AND at
        AND the_challenge.act_id = s.act_id AND the_challenge.client_id = s.client_id
        AND the_challenge.state = 'live' AND the_challenge.expires_at > at
        AND the_challenge.message = s.message AND act_message_matches(the_act, the_challenge)
        AND role_of_person(s.client_id) = the_act.role
        AND the_key.client_id = s.client_id AND the_key.status = 'active' AND the_key.failures < 100
        AND the_key.sign_count = (p_key_state ->> 'sign_count_before')::bigint
        -- Nobody approves what was not proposed, and nobody admits a key of his own.
        AND (the_challenge.stage = 'propose'
             OR EXISTS (SELECT FROM act_signature WHERE act_id = s.act_id AND stage = 'propose'))
        AND NOT EXISTS (SELECT FROM act_signature WHERE act_id = s.act_id AND client_id = s.client_id)
        AND (subject_key_id IS NULL OR EXISTS (SELECT FROM person_key k WHERE k.id = subject_key_id
                AND k.status = 'pending' AND k.client_id <> s.client_id))
        AND (people_behind(s.act_id) + 1 >= the_act.signatures_needed) = p_last) IS TRUE;
END $$;

-- Spends the question of a signature that was believed, and notes what it told of its key. The caller holds
-- both rows.
CREATE FUNCTION note_act_answer(p_signature jsonb, p_key_state jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE act_challenge SET state = 'consumed' WHERE id = (p_signature ->> 'challenge_id')::uuid;
    UPDATE person_key SET sign_count = (p_key_state ->> 'sign_count')::bigint,
           backup_state = (p_key_state ->> 'backup_state')::boolean, failures = 0
     WHERE id = (p_signature ->> 'person_key_id')::uuid;
END $$;

-- As in V0014, in the parts above.
CREATE OR REPLACE FUNCTION take_act_signature(p_kinds text[], p_last boolean, p_signature jsonb,
    p_key_state jsonb, p_evidence uuid) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    s act_signature := jsonb_populate_record(NULL::act_signature, p_signature);
BEGIN
    IF NOT act_signature_stands(p_kinds, p_last, p_signature, p_key_state) THEN
        RETURN false;
    END IF;
    s.stage := (SELECT stage FROM act_challenge WHERE id = s.challenge_id);
    s.evidence_id := p_evidence;
    INSERT INTO act_signature SELECT s.*;
    PERFORM note_act_answer(p_signature, p_key_state);
    RETURN true;
END $$;

-- Writes that the last signature of an act was refused, and spends its question. The act stays open, as an
-- action does whose approval is refused: what stands against it may end, and each new attempt needs another
-- signature, which is recorded too. False for a lost race. p_people are those who have signed before;
-- p_evidence is of the service, and p_more, of the action, is written after it.
CREATE FUNCTION refuse_last_signature(p_kinds text[], p_signature jsonb, p_key_state jsonb, p_people uuid[],
    p_evidence jsonb, p_more jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT act_signature_stands(p_kinds, true, p_signature, p_key_state)
        OR signers_of((p_signature ->> 'act_id')::uuid) IS DISTINCT FROM p_people THEN
        RETURN false;
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['act.refused']);
    PERFORM write_evidence(p_evidence || p_more);
    PERFORM note_act_answer(p_signature, p_key_state);
    RETURN true;
END $$;

-- 'refused' or 'lost_race': the last signature of an act about an action, which something else than a policy
-- or a customer's key stands against. That this was so when it was read is not compared again: a refusal that
-- comes a moment late lets nothing happen.
CREATE FUNCTION refuse_act(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN CASE WHEN refuse_last_signature(ARRAY['hold.release', 'hold.cancel', 'action.approve'], p_signature,
            p_key_state, p_people, p_evidence, '[]') THEN 'refused' ELSE 'lost_race' END;
END $$;

-- 'refused' or 'lost_race': the last signature of an act action.approve that the policy refuses, or that the
-- customer's own key stands against: then p_inputs is NULL, since no policy was asked. The other parameters
-- are those of approve_assisted; p_evidence is one record, on the action's chain alone.
CREATE FUNCTION refuse_assisted(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_version bigint,
    p_policy_version int, p_seq int, p_decided_at timestamptz, p_inputs bytea, p_act_evidence jsonb,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
    content jsonb;
    the_action action;
    the_customer customer;
    at timestamptz;
BEGIN
    -- What is read of the act before its lock never changes.
    SELECT * INTO the_act FROM act WHERE id = (p_signature ->> 'act_id')::uuid AND kind = 'action.approve';
    content := convert_from(the_act.document, 'UTF8')::jsonb;
    SELECT * INTO the_action FROM action WHERE id = (content ->> 'action_id')::uuid;
    SELECT * INTO the_customer FROM customer WHERE subject_id = the_action.subject_id FOR UPDATE;
    SELECT * INTO the_action FROM action WHERE id = the_action.id FOR UPDATE;
    at := clock_timestamp();
    -- IS NOT TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    IF (the_customer.version = p_version AND p_decided_at BETWEEN at - decision_age_max() AND at
        AND active_policy_version() = p_policy_version
        AND the_action."authorization" = 'pending' AND the_action.expires_at > at
        AND the_action.seq = p_seq
        AND document_matches(the_action, content, the_customer.customer_id)
        AND EXISTS (SELECT FROM credential c WHERE c.subject_id = the_customer.subject_id
                       AND c.status = 'active') = (p_inputs IS NULL)) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_evidence(p_evidence, 'action.refused', the_customer.subject_id);
    IF jsonb_array_length(p_evidence) <> 1 OR p_evidence #>> '{0,credential_id}' IS NOT NULL
        OR (p_evidence #>> '{0,action_id}')::uuid IS DISTINCT FROM the_action.id THEN
        RAISE EXCEPTION 'a refusal to officers is told of its action alone' USING ERRCODE = 'CS005';
    END IF;
    IF NOT refuse_last_signature(ARRAY['action.approve'], p_signature, p_key_state, p_people, p_act_evidence,
            p_evidence) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM advance_action(the_action.id, p_evidence, NULL, NULL);
    IF p_inputs IS NOT NULL THEN
        PERFORM note_policy_decision(the_action.id, p_decided_at, p_policy_version, p_inputs,
            convert_from(decode(p_evidence #>> '{0,leaf}', 'hex'), 'UTF8')::jsonb ->> 'outcome', p_evidence);
    END IF;
    RETURN 'refused';
END $$;

-- 'recorded' or 'lost_race': an act that was refused when it was proposed, which nobody has signed.
CREATE FUNCTION record_refused_act(p_client uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF role_of_person(p_client) IS NULL THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['act.refused']);
    PERFORM write_evidence(p_evidence);
    RETURN 'recorded';
END $$;

-- As in V0015. What officers are refused for another reason than a limit is no news of a limit either.
CREATE OR REPLACE FUNCTION tell_of_refusal() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    rule text := convert_from(new.leaf, 'UTF8')::jsonb ->> 'outcome';
BEGIN
    IF rule NOT IN ('risk_refused', 'credential_not_allowed', 'payee_unknown', 'payee_not_usable',
            'assisted_not_allowed', 'customer_has_key') THEN
        INSERT INTO event (kind, subject_id, action_id, document)
        VALUES ('limit.refused', new.subject_id, new.action_id, json_build_object('rule', rule));
    END IF;
    RETURN NULL;
END $$;

GRANT EXECUTE ON FUNCTION act_signature_stands, note_act_answer, refuse_last_signature TO countersign_definer;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('refuse_act', 'refuse_assisted', 'record_refused_act') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
