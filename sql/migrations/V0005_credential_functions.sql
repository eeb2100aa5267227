-- The functions that write credentials, enrolments, payees and clients. Same rules as V0004.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- One open question per enrolment is looked for by it.
CREATE INDEX enrolment_authorization_by_enrolment ON enrolment_authorization (enrolment_id);

-- What has no chain of evidence that would show a gap changes only with evidence of its own kind.
CREATE FUNCTION demand_evidence(entries jsonb, p_kind text, p_subject uuid) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    IF (entries -> 0 ->> 'kind' = p_kind AND (entries -> 0 ->> 'subject_id')::uuid = p_subject)
        IS NOT TRUE THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
END $$;

-- 'begun' or 'too_many_open'; p_open_max bounds the customer's open enrolments. Nothing is believed
-- yet, so there is no evidence yet.
CREATE FUNCTION begin_enrolment(p_subject uuid, p_open_max int, p_enrolment uuid, p_kind text,
    p_label text, p_user_handle bytea, p_message bytea, p_created_at timestamptz,
    p_expires_at timestamptz) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    IF (SELECT count(*) FROM enrolment WHERE subject_id = p_subject AND spent_at IS NULL
           AND expires_at > clock_timestamp()) >= p_open_max THEN
        RETURN 'too_many_open';
    END IF;
    INSERT INTO enrolment (id, subject_id, kind, label, user_handle, message, created_at, expires_at)
    VALUES (p_enrolment, p_subject, p_kind, p_label, p_user_handle, p_message, p_created_at,
            p_expires_at);
    RETURN 'begun';
END $$;

-- 'issued' or 'lost_race': a challenge by which an active credential authorises the enrolment of one
-- key. The earlier ones of the enrolment are dead from here on.
CREATE FUNCTION begin_enrolment_authorization(p_subject uuid, p_enrolment uuid, p_challenge uuid,
    p_key_digest bytea, p_message bytea, p_expires_at timestamptz) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM enrolment WHERE id = p_enrolment AND subject_id = p_subject
        AND spent_at IS NULL AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    UPDATE enrolment_authorization SET spent_at = clock_timestamp()
     WHERE enrolment_id = p_enrolment AND spent_at IS NULL;
    INSERT INTO enrolment_authorization (challenge_id, enrolment_id, key_digest, message, expires_at)
    VALUES (p_challenge, p_enrolment, p_key_digest, p_message, p_expires_at);
    RETURN 'issued';
END $$;

-- 'enrolled', 'lost_race', 'token_used' or 'credential_exists'.
-- p_credential carries the row's columns by name, and its created_at is the time of the load. Exactly
-- one of p_authorization (answered by p_authorizer, whose chain grows too) and p_sca_jti is given, or
-- neither in development. The messages are those that were verified.
CREATE FUNCTION enrol_credential(p_subject uuid, p_version bigint, p_enrolment uuid,
    p_message bytea, p_authorization uuid, p_authorization_message bytea, p_authorizer uuid,
    p_authorizer_seq int, p_authorizer_sign_count bigint, p_authorizer_backup_state boolean,
    p_sca_jti text, p_sca_expires_at timestamptz, p_credential jsonb, p_evidence jsonb) RETURNS text
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
    fresh.revoked_at := NULL;
    fresh.seq := 0;
    fresh.head := '';
    fresh.evidence_id := (p_evidence -> 0 ->> 'id')::uuid;
    INSERT INTO credential SELECT fresh.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        -- Another customer's enrolment of the same key was quicker; a token stays spent.
        RETURN 'credential_exists';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_credential(fresh.id, p_evidence);
    UPDATE enrolment SET spent_at = at WHERE id = p_enrolment;
    UPDATE enrolment_authorization SET spent_at = at
     WHERE enrolment_id = p_enrolment AND spent_at IS NULL;
    IF p_authorization IS NOT NULL THEN
        UPDATE credential SET sign_count = p_authorizer_sign_count,
               backup_state = p_authorizer_backup_state
         WHERE id = p_authorizer;
        PERFORM advance_credential(p_authorizer, p_evidence);
    END IF;
    INSERT INTO credential_announcement (credential_id, available_at)
    VALUES (fresh.id, fresh.created_at);
    UPDATE customer SET version = version + 1, failures = 0 WHERE subject_id = p_subject;
    RETURN 'enrolled';
END $$;

-- 'spent' or 'lost_race': a finish that failed. The enrolment cannot be tried again.
-- With p_authorization it was a wrong answer to that live question: an attempt like any other, counted
-- under the customer's lock and only while the customer is not locked. p_credential: the credential of
-- the customer that the answer named.
CREATE FUNCTION spend_enrolment(p_subject uuid, p_customer_failures int, p_enrolment uuid,
    p_authorization uuid, p_credential uuid, p_credential_seq int, p_locked_until timestamptz,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND failures = p_customer_failures
        AND (locked_until IS NULL OR locked_until <= clock_timestamp()) FOR UPDATE;
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
    END IF;
    IF p_credential IS NOT NULL THEN
        PERFORM 1 FROM credential WHERE id = p_credential AND subject_id = p_subject
            AND seq = p_credential_seq FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE enrolment SET spent_at = clock_timestamp() WHERE id = p_enrolment;
    UPDATE enrolment_authorization SET spent_at = clock_timestamp()
     WHERE enrolment_id = p_enrolment AND spent_at IS NULL;
    IF p_credential IS NOT NULL THEN
        PERFORM advance_credential(p_credential, p_evidence);
    END IF;
    IF p_authorization IS NOT NULL THEN
        UPDATE customer SET
               failures = CASE WHEN p_locked_until IS NULL THEN failures + 1 ELSE 0 END,
               locked_until = coalesce(p_locked_until, locked_until)
         WHERE subject_id = p_subject;
    END IF;
    RETURN 'spent';
END $$;

-- 'revoked' or 'lost_race'. Effective inside the very next approval, since that compares the
-- customer's version. p_actions are the approvals by this key that were not yet tried, all of them as
-- of p_version, and p_action_seqs the lengths of their chains: all are cancelled.
CREATE FUNCTION revoke_credential(p_subject uuid, p_version bigint, p_credential uuid, p_seq int,
    p_revoked_at timestamptz, p_actions uuid[], p_action_seqs int[], p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    open_action uuid;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    IF NOT FOUND OR (p_revoked_at BETWEEN clock_timestamp() - decision_age_max()
                     AND clock_timestamp()) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    -- Orders before actions, as everywhere. A claim that was quicker shows as an attempt.
    PERFORM 1 FROM execution_order WHERE action_id = ANY (p_actions) ORDER BY action_id FOR UPDATE;
    PERFORM 1 FROM action WHERE id = ANY (p_actions) ORDER BY id FOR UPDATE;
    -- A release continues an action's chain without a change of the customer.
    IF (SELECT count(*) FROM unnest(p_actions, p_action_seqs) AS x (id, seq)
          JOIN action a ON a.id = x.id AND a.seq = x.seq AND a.subject_id = p_subject
               AND a.execution IN ('held', 'ready')
          JOIN execution_order o ON o.action_id = a.id AND o.attempt = 0 AND o.settled_at IS NULL)
        <> cardinality(p_actions) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM credential WHERE id = p_credential AND subject_id = p_subject
        AND status = 'active' AND seq = p_seq FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_evidence(p_evidence, 'credential.revoked', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE credential SET status = 'revoked', revoked_at = p_revoked_at WHERE id = p_credential;
    PERFORM advance_credential(p_credential, p_evidence);
    FOREACH open_action IN ARRAY p_actions LOOP
        IF NOT cancel_execution(p_subject, open_action, p_evidence) THEN
            RAISE EXCEPTION 'an order changed under its lock' USING ERRCODE = 'CS006';
        END IF;
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
    PERFORM demand_evidence(p_evidence, 'payee.imported', p_subject);
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
    PERFORM demand_evidence(p_evidence, 'client.added', '00000000-0000-0000-0000-000000000000');
    PERFORM write_evidence(p_evidence);
    RETURN 'added';
END $$;

-- Evidence of something that changes no other row: a read by an auditor, the first policy. Nothing
-- else can be said here: whoever may only read must not be able to tell of decisions, nor to break
-- somebody's chain with an entry that can never be taken back.
CREATE FUNCTION record_event(p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    entry jsonb;
    leaf jsonb;
BEGIN
    FOR entry IN SELECT value FROM jsonb_array_elements(p_evidence) LOOP
        leaf := convert_from(decode(entry ->> 'leaf', 'hex'), 'UTF8')::jsonb;
        IF ((entry ->> 'kind' = 'evidence.read' OR entry ->> 'kind' = 'policy.published'
                AND pg_has_role(session_user, 'countersign_operator', 'MEMBER'))
            AND entry ->> 'subject_id' = '00000000-0000-0000-0000-000000000000'
            AND entry ->> 'action_id' IS NULL AND entry ->> 'credential_id' IS NULL
            AND NOT leaf ?| ARRAY['action', 'credential']
            AND leaf ->> 'id' = entry ->> 'id' AND leaf ->> 'kind' = entry ->> 'kind'
            AND leaf ->> 'subject' = entry ->> 'subject_id'
            AND leaf ->> 'body' = entry ->> 'body_commit') IS NOT TRUE THEN
            RAISE EXCEPTION 'not an event of the service itself' USING ERRCODE = 'CS007';
        END IF;
    END LOOP;
    PERFORM write_evidence(p_evidence);
END $$;

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
