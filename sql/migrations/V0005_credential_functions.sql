-- The functions that write credentials, enrolments, payees and clients. Same rules as V0004.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Begins an enrolment; nothing is believed yet, so there is no evidence yet.
CREATE FUNCTION begin_enrolment(p_subject uuid, p_enrolment uuid, p_kind text, p_label text,
    p_user_handle bytea, p_message bytea, p_created_at timestamptz, p_expires_at timestamptz)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    INSERT INTO enrolment (id, subject_id, kind, label, user_handle, message, created_at, expires_at)
    VALUES (p_enrolment, p_subject, p_kind, p_label, p_user_handle, p_message, p_created_at,
            p_expires_at);
$$;

-- A challenge by which an active credential authorises the enrolment of one key.
CREATE FUNCTION begin_enrolment_authorization(p_challenge uuid, p_enrolment uuid,
    p_key_digest bytea, p_message bytea, p_expires_at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    INSERT INTO enrolment_authorization (challenge_id, enrolment_id, key_digest, message, expires_at)
    VALUES (p_challenge, p_enrolment, p_key_digest, p_message, p_expires_at);
$$;

-- 'enrolled', 'lost_race', 'token_used' or 'credential_exists'.
-- p_credential carries the row's columns by name. Exactly one of p_authorization (answered by
-- p_authorizer, whose chain grows too) and p_sca_jti is given, or neither in development.
CREATE FUNCTION enrol_credential(p_subject uuid, p_version bigint, p_enrolment uuid,
    p_authorization uuid, p_authorizer uuid, p_authorizer_seq int, p_authorizer_sign_count bigint,
    p_sca_jti text, p_credential jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    fresh credential := jsonb_populate_record(NULL::credential, p_credential);
    entry record;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM enrolment WHERE id = p_enrolment AND subject_id = p_subject
        AND spent_at IS NULL AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    IF p_authorization IS NOT NULL THEN
        PERFORM 1 FROM enrolment_authorization WHERE challenge_id = p_authorization
            AND enrolment_id = p_enrolment AND spent_at IS NULL
            AND expires_at > clock_timestamp() FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
        PERFORM 1 FROM credential WHERE id = p_authorizer AND subject_id = p_subject
            AND status = 'active' AND seq = p_authorizer_seq FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    IF EXISTS (SELECT FROM credential
                WHERE public_key = fresh.public_key OR passkey_id = fresh.passkey_id) THEN
        RETURN 'credential_exists';
    END IF;
    IF p_sca_jti IS NOT NULL THEN
        INSERT INTO sca_token (jti) VALUES (p_sca_jti) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN 'token_used';
        END IF;
    END IF;
    fresh.subject_id := p_subject;
    fresh.status := 'active';
    fresh.seq := 0;
    fresh.head := '';
    INSERT INTO credential SELECT fresh.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        -- Another customer's enrolment of the same key was quicker; a token stays spent.
        RETURN 'credential_exists';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_credential(fresh.id, p_evidence);
    UPDATE enrolment SET spent_at = clock_timestamp() WHERE id = p_enrolment;
    IF p_authorization IS NOT NULL THEN
        UPDATE enrolment_authorization SET spent_at = clock_timestamp()
         WHERE challenge_id = p_authorization;
        UPDATE credential SET sign_count = p_authorizer_sign_count WHERE id = p_authorizer;
        PERFORM advance_credential(p_authorizer, p_evidence);
    END IF;
    INSERT INTO credential_announcement (credential_id, available_at)
    VALUES (fresh.id, fresh.created_at);
    UPDATE customer SET version = version + 1, failures = 0 WHERE subject_id = p_subject;
    RETURN 'enrolled';
END $$;

-- 'spent' or 'lost_race': a finish that failed. The enrolment cannot be tried again.
-- p_locked_until and the count: a failed authorisation by a credential is an attempt like any other.
CREATE FUNCTION spend_enrolment(p_subject uuid, p_enrolment uuid, p_customer_failures int,
    p_counts boolean, p_locked_until timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND failures = p_customer_failures FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    UPDATE enrolment SET spent_at = clock_timestamp()
     WHERE id = p_enrolment AND subject_id = p_subject AND spent_at IS NULL;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    IF p_counts THEN
        UPDATE customer SET
               failures = CASE WHEN p_locked_until IS NULL THEN failures + 1 ELSE 0 END,
               locked_until = coalesce(p_locked_until, locked_until)
         WHERE subject_id = p_subject;
    END IF;
    RETURN 'spent';
END $$;

-- 'revoked' or 'lost_race'. Effective inside the very next approval, since that compares the
-- customer's version; p_actions are the approvals by this key that were not yet tried, all cancelled.
CREATE FUNCTION revoke_credential(p_subject uuid, p_version bigint, p_credential uuid, p_seq int,
    p_actions uuid[], p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    open_action uuid;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    -- Orders before actions, as everywhere; sorted, so that two revocations cannot cross.
    PERFORM 1 FROM execution_order WHERE action_id = ANY (p_actions) ORDER BY action_id FOR UPDATE;
    IF EXISTS (SELECT FROM execution_order WHERE action_id = ANY (p_actions)
                AND (attempt > 0 OR settled_at IS NOT NULL)) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM credential WHERE id = p_credential AND subject_id = p_subject
        AND status = 'active' AND seq = p_seq FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE credential SET status = 'revoked', revoked_at = clock_timestamp() WHERE id = p_credential;
    PERFORM advance_credential(p_credential, p_evidence);
    FOREACH open_action IN ARRAY p_actions LOOP
        PERFORM cancel_execution(p_subject, open_action, p_evidence);
    END LOOP;
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'revoked';
END $$;

-- 'imported' or 'exists'. An existing payee of the bank: established from the start.
CREATE FUNCTION import_payee(p_subject uuid, p_payee uuid, p_account text, p_name text,
    p_alias text, p_at timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    INSERT INTO payee AS p (id, subject_id, account, name, alias, confirmed_at, usable_at, new_until,
           first_executed_at)
    VALUES (p_payee, p_subject, p_account, p_name, p_alias, p_at, p_at, p_at, p_at)
    ON CONFLICT (subject_id, account) DO UPDATE SET id = excluded.id, name = excluded.name,
        alias = excluded.alias, status = 'active', action_id = NULL,
        confirmed_at = excluded.confirmed_at, usable_at = excluded.usable_at,
        new_until = excluded.new_until, first_executed_at = excluded.first_executed_at
        WHERE p.status = 'removed';
    IF NOT FOUND THEN
        RETURN 'exists';
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'imported';
END $$;

-- 'added' or 'exists'. p_digest is the SHA-256 of the client's first key.
CREATE FUNCTION add_client(p_client uuid, p_name text, p_role text, p_digest bytea,
    p_subject_alternative_name text, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM client_certificate
                WHERE subject_alternative_name = p_subject_alternative_name) THEN
        RETURN 'exists';
    END IF;
    INSERT INTO client (id, name, role) VALUES (p_client, p_name, p_role) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'exists';
    END IF;
    IF p_digest IS NOT NULL THEN
        INSERT INTO client_key (digest, client_id) VALUES (p_digest, p_client);
    END IF;
    IF p_subject_alternative_name IS NOT NULL THEN
        INSERT INTO client_certificate (subject_alternative_name, client_id)
        VALUES (p_subject_alternative_name, p_client);
    END IF;
    PERFORM write_evidence(p_evidence);
    RETURN 'added';
END $$;

-- Evidence of something that changes no other row: a read by an auditor, the first policy.
CREATE FUNCTION record_event(p_evidence jsonb) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    SELECT write_evidence(p_evidence);
$$;

-- The data key of events of the service itself, under the zero subject.
CREATE FUNCTION ensure_service_subject(p_wrapped bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    INSERT INTO subject_key (subject_id, wrapped)
    VALUES ('00000000-0000-0000-0000-000000000000', p_wrapped) ON CONFLICT DO NOTHING;
$$;

-- The answers of keys older than a week are forgotten.
CREATE FUNCTION forget_idempotency() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    WITH old AS (DELETE FROM idempotency WHERE created_at < clock_timestamp() - interval '7 days'
                 RETURNING 1)
    SELECT count(*) FROM old;
$$;
RESET ROLE;
