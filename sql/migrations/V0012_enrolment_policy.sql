-- An enrolment holds only under the policy that it was decided by: which keys may approve something, and
-- which may vouch for which, is the policy's to say. A policy that became active between the load and the
-- commit makes the enrolment be decided again, as it does for a decision.
-- Deployment: one function is replaced by one with a parameter more, so instances of before enrol nobody
-- once it is applied.

-- The function runs as the definer, who owns it; the owner replaces it.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname = 'enrol_credential' LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_owner', f.name);
    END LOOP;
END $$;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0009, and compares the policy's version.
DROP FUNCTION enrol_credential;
CREATE FUNCTION enrol_credential(p_subject uuid, p_version bigint, p_policy_version int,
    p_enrolment uuid, p_message bytea, p_authorization uuid, p_authorization_message bytea,
    p_authorizer uuid, p_authorizer_seq int, p_authorizer_sign_count bigint,
    p_authorizer_backup_state boolean, p_sca_jti text, p_sca_expires_at timestamptz,
    p_credential jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    fresh credential := jsonb_populate_record(NULL::credential, p_credential);
    the_customer customer;
    the_enrolment enrolment;
    at timestamptz;
BEGIN
    SELECT * INTO the_customer FROM customer WHERE subject_id = p_subject FOR UPDATE;
    SELECT * INTO the_enrolment FROM enrolment WHERE id = p_enrolment FOR UPDATE;
    at := clock_timestamp();
    -- IS NOT TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    IF (the_customer.version = p_version
        AND coalesce(the_customer.locked_until <= at, true)
        AND active_policy_version() = p_policy_version
        AND fresh.created_at BETWEEN at - decision_age_max() AND at
        AND the_enrolment.subject_id = p_subject AND the_enrolment.spent_at IS NULL
        AND the_enrolment.expires_at > at AND the_enrolment.message = p_message
        AND (p_sca_jti IS NULL OR p_sca_expires_at > at)) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    IF p_authorization IS NOT NULL THEN
        PERFORM 1 FROM enrolment_authorization WHERE challenge_id = p_authorization
            AND enrolment_id = p_enrolment AND spent_at IS NULL AND expires_at > at
            AND message = p_authorization_message FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
        PERFORM 1 FROM credential WHERE id = p_authorizer AND subject_id = p_subject
            AND status = 'active' AND seq = p_authorizer_seq FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    IF EXISTS (SELECT FROM sca_token WHERE jti = p_sca_jti) THEN
        RETURN 'token_used';
    END IF;
    IF EXISTS (SELECT FROM credential
                WHERE public_key = fresh.public_key OR passkey_id = fresh.passkey_id) THEN
        RETURN 'credential_exists';
    END IF;
    -- Tokens and keys are unique across customers, so for these two the customer's lock is not enough:
    -- a competitor may insert between the looks above and here.
    IF p_sca_jti IS NOT NULL THEN
        INSERT INTO sca_token (jti) VALUES (p_sca_jti) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN 'token_used';
        END IF;
    END IF;
    fresh.subject_id := p_subject;
    fresh.kind := the_enrolment.kind;
    fresh.label := the_enrolment.label;
    fresh.user_handle := the_enrolment.user_handle;
    fresh.status := 'active';
    fresh.failures := 0;
    fresh.revoked_at := NULL;
    fresh.seq := 0;
    fresh.head := '';
    fresh.evidence_id := (p_evidence -> 0 ->> 'id')::uuid;
    INSERT INTO credential SELECT fresh.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        -- Another customer's enrolment of the same key was quicker; a token stays spent.
        RETURN 'credential_exists';
    END IF;
    IF jsonb_typeof(p_credential -> 'attested') = 'object' THEN
        INSERT INTO credential_attestation (credential_id, statement, facts, profiles, app_attest_key)
        SELECT fresh.id, t.statement, t.facts::json, t.profiles, t.app_attest_key
          FROM jsonb_to_record(p_credential -> 'attested')
               AS t (statement bytea[], facts text, profiles text[], app_attest_key bytea);
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_credential(fresh.id, p_evidence);
    UPDATE enrolment SET spent_at = at WHERE id = p_enrolment;
    UPDATE enrolment_authorization SET spent_at = at
     WHERE enrolment_id = p_enrolment AND spent_at IS NULL;
    IF p_authorization IS NOT NULL THEN
        PERFORM note_proof(p_authorizer, p_authorizer_sign_count, p_authorizer_backup_state,
            p_evidence);
    END IF;
    INSERT INTO credential_announcement (credential_id, available_at)
    VALUES (fresh.id, fresh.created_at);
    UPDATE customer SET version = version + 1, failures = 0 WHERE subject_id = p_subject;
    RETURN 'enrolled';
END $$;

RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname = 'enrol_credential' LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
