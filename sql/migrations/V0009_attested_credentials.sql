-- What a key is attested for, how its signatures are written, and how often in a row it has failed; and
-- that the end of a key ends its customer's open questions.
-- Deployment: one new table, and columns with constant defaults: nothing is rewritten. The CHECKs read
-- the table credential once under an exclusive lock; evidence is locked for a moment and not read.

-- The functions below that write run as the definer, who owns them; the owner replaces them.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('approve_action', 'reject_action', 'refuse_action',
                                  'record_failure', 'enrol_credential', 'spend_enrolment',
                                  'revoke_credential') LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_owner', f.name);
    END LOOP;
END $$;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Kinds may have an underscore, as in credential.backup_state_changed. Every kind of before is of the new
-- form too, so that the rows need not be read.
ALTER TABLE evidence DROP CONSTRAINT evidence_kind_form,
    ADD CONSTRAINT evidence_kind_form CHECK (kind ~ '^[a-z]+(\.[a-z]+(_[a-z]+)*)?$') NOT VALID;

ALTER TABLE credential
    -- Fixed at enrolment: whoever may choose per signature may try twice.
    ADD COLUMN signature_format text NOT NULL DEFAULT 'der' CONSTRAINT credential_signature_format
               CHECK (signature_format = 'der' OR signature_format = 'raw' AND kind = 'device_key'),
    -- How a client says that it reaches a passkey's authenticator: hints, not facts.
    ADD COLUMN transports text[] NOT NULL DEFAULT '{}' CONSTRAINT credential_transports
               CHECK (cardinality(transports) <= 8 AND (kind = 'passkey' OR transports = '{}')),
    -- Consecutive ones in the key's life. At most 100, then it is disabled for ever: NIST SP 800-63B-4
    -- §3.2.2, standards D-02.
    ADD COLUMN failures int NOT NULL DEFAULT 0 CONSTRAINT credential_failures_bound
               CHECK (failures BETWEEN 0 AND 100),
    DROP CONSTRAINT credential_status,
    ADD CONSTRAINT credential_status CHECK (status IN ('active', 'suspended', 'revoked')),
    ADD CONSTRAINT credential_active_may_fail CHECK (status <> 'active' OR failures < 100),
    ADD CONSTRAINT credential_suspended_has_failed CHECK (status <> 'suspended' OR failures = 100);

-- What came with a key from its maker, and what was made of it. Never changes: it is what was believed
-- when the key was enrolled. Its verdict and format stand in credential.attestation, also for the keys
-- that came without a statement and have no row here.
CREATE TABLE credential_attestation (
    credential_id  uuid PRIMARY KEY REFERENCES credential (id),
    -- As it came: an attestation object, or certificates, leaf first.
    statement      bytea[] NOT NULL,
    -- json, not jsonb: the text is kept as it was made.
    facts          json NOT NULL CONSTRAINT credential_attestation_facts
                   CHECK (json_typeof(facts) = 'object'),
    -- The named profiles that the facts met.
    profiles       text[] NOT NULL,
    -- SubjectPublicKeyInfo of the key of App Attest. The counter of its assertions is the credential's
    -- sign_count, since a device key counts nothing itself.
    app_attest_key bytea
);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON credential_attestation
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON credential_attestation
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE credential_attestation ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- A key that has ended signs never again.
CREATE FUNCTION guard_credential() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF new.status <> old.status AND (old.status, new.status) NOT IN (
        ('active', 'suspended'), ('active', 'revoked'), ('suspended', 'revoked')) THEN
        RAISE EXCEPTION 'the end of a credential is final' USING ERRCODE = 'CS004';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON credential FOR EACH ROW EXECUTE FUNCTION guard_credential();
ALTER TABLE credential ENABLE ALWAYS TRIGGER guard;

-- The active passkeys of a customer, oldest first, with what the options of a client say of them and
-- what a policy looks at: a JSON array.
CREATE FUNCTION active_passkeys(p_subject uuid) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT coalesce(json_agg(json_build_object('id', encode(c.passkey_id, 'hex'),
                       'transports', c.transports, 'backup_eligible', c.backup_eligible,
                       'profiles', coalesce(t.profiles, '{}')) ORDER BY c.created_at), '[]')
              FROM credential c
              LEFT JOIN credential_attestation t ON t.credential_id = c.id
             WHERE c.subject_id = p_subject AND c.kind = 'passkey' AND c.status = 'active');
END $$;

-- The open questions of a customer, which end with any of the customer's keys: the live challenges of
-- pending actions, and what active keys were asked to vouch for. A JSON object of two arrays of IDs.
CREATE FUNCTION open_questions(p_subject uuid) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN json_build_object(
        'challenges', (
            SELECT coalesce(json_agg(c.id ORDER BY c.id), '[]')
              FROM action a JOIN challenge c ON c.action_id = a.id AND c.state = 'live'
             WHERE a.subject_id = p_subject AND a."authorization" = 'pending'),
        'authorizations', (
            SELECT coalesce(json_agg(q.challenge_id ORDER BY q.challenge_id), '[]')
              FROM enrolment e JOIN enrolment_authorization q ON q.enrolment_id = e.id
             WHERE e.subject_id = p_subject AND q.spent_at IS NULL
               AND q.expires_at > clock_timestamp()));
END $$;

-- Whether these are the customer's open questions, as read before: none is missing, and none has been
-- answered. True without any lists, for what ends no question. The caller holds the customer's row,
-- without which nobody asks or answers.
CREATE FUNCTION questions_are(p_subject uuid, p_challenges uuid[], p_authorizations uuid[])
RETURNS boolean LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    IF p_challenges IS NULL AND p_authorizations IS NULL THEN
        RETURN true;
    END IF;
    -- A question to vouch may have expired since: it may be missing, and may be listed.
    RETURN (
        SELECT count(*) = cardinality(p_challenges) AND count(*) = count(*) FILTER (
                   WHERE c.id = ANY (p_challenges))
          FROM action a JOIN challenge c ON c.action_id = a.id AND c.state = 'live'
         WHERE a.subject_id = p_subject AND a."authorization" = 'pending'
    ) AND (
        SELECT count(*) FILTER (WHERE q.challenge_id = ANY (p_authorizations))
                   = cardinality(p_authorizations)
               AND count(*) FILTER (WHERE q.expires_at > clock_timestamp()
                   AND q.challenge_id <> ALL (p_authorizations)) = 0
          FROM enrolment e JOIN enrolment_authorization q ON q.enrolment_id = e.id
         WHERE e.subject_id = p_subject AND q.spent_at IS NULL);
END $$;

-- Ends questions, after questions_are.
CREATE FUNCTION void_questions(p_challenges uuid[], p_authorizations uuid[]) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE challenge SET state = 'void' WHERE id = ANY (p_challenges) AND state = 'live';
    UPDATE enrolment_authorization SET spent_at = clock_timestamp()
     WHERE challenge_id = ANY (p_authorizations) AND spent_at IS NULL;
END $$;

-- Whether the entries tell that of the credential.
CREATE FUNCTION tells_of(entries jsonb, p_kind text, p_credential uuid) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM jsonb_array_elements(entries) AS e
                    WHERE e.value ->> 'kind' = p_kind
                      AND e.value ->> 'credential_id' = p_credential::text);
END $$;

-- What a proof that was believed leaves with its credential, whatever was proved: its failures are
-- over, and what the authenticator told is remembered. The caller holds the credential's row.
-- p_sign_count is NULL for a proof that told no count: the last one stays.
CREATE FUNCTION note_proof(p_credential uuid, p_sign_count bigint, p_backup_state boolean,
    p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM credential WHERE id = p_credential AND backup_state <> p_backup_state)
        <> tells_of(p_evidence, 'credential.backup_state_changed', p_credential) THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    UPDATE credential SET sign_count = coalesce(p_sign_count, sign_count),
           backup_state = p_backup_state, failures = 0
     WHERE id = p_credential;
    PERFORM advance_credential(p_credential, p_evidence);
END $$;

-- One more failure of a credential; one that has ended counts none. With p_challenges and
-- p_authorizations it is the last one: the credential is suspended, and these questions end with it.
-- The CHECKs on failures and status hold that it is then, and only then. The caller holds the rows of
-- the customer and of the credential.
CREATE FUNCTION count_failure(p_subject uuid, p_credential uuid, p_challenges uuid[],
    p_authorizations uuid[], p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    suspends boolean := p_challenges IS NOT NULL;
BEGIN
    IF suspends <> tells_of(p_evidence, 'credential.suspended', p_credential) THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    UPDATE credential SET failures = failures + 1,
           status = CASE WHEN suspends THEN 'suspended' ELSE status END
     WHERE id = p_credential AND status = 'active';
    PERFORM advance_credential(p_credential, p_evidence);
    IF suspends THEN
        PERFORM void_questions(p_challenges, p_authorizations);
        -- Whoever decided before on a customer with this key decides again.
        UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    END IF;
END $$;

-- As in V0004, but that a proof is noted by note_proof.
CREATE OR REPLACE FUNCTION approve_action(p_subject uuid, p_version bigint, p_policy_version int,
    p_action uuid, p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int,
    p_decided_at timestamptz, p_message bytea, p_signature bytea, p_client_data_json bytea,
    p_authenticator_data bytea, p_assertion_digest bytea, p_sign_count bigint,
    p_backup_state boolean, p_bank_day date, p_hold_until timestamptz, p_hold_rule text,
    p_dimensions text[], p_windows date[], p_amounts bigint[], p_caps bigint[], p_payee jsonb,
    p_contact_hold_until timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
        p_challenge, p_credential, p_credential_seq, p_decided_at, 'approve', p_message);
    new_execution text := CASE WHEN p_hold_until IS NULL THEN 'ready' ELSE 'held' END;
    entry record;
BEGIN
    IF checked <> 'ok' THEN
        RETURN checked;
    END IF;
    IF p_bank_day <> (SELECT (clock_timestamp() AT TIME ZONE time_zone)::date
                        FROM policy WHERE version = p_policy_version)
        OR EXISTS (SELECT FROM unnest(p_dimensions, p_windows, p_amounts, p_caps)
                          AS r (dimension, window_start, amount, cap)
                     LEFT JOIN counter c ON c.subject_id = p_subject
                          AND c.dimension = r.dimension AND c.window_start = r.window_start
                    WHERE coalesce(c.used, 0) + r.amount > r.cap) THEN
        RETURN 'lost_race';
    END IF;

    PERFORM write_evidence(p_evidence);
    entry := action_head_of(p_evidence, p_action);
    UPDATE action SET "authorization" = 'approved', execution = new_execution,
           hold_until = p_hold_until, hold_rule = p_hold_rule,
           seq = seq + entry.added, head = entry.head, last_evidence_id = entry.last_id
     WHERE id = p_action;
    UPDATE challenge SET state = 'consumed' WHERE id = p_challenge;
    PERFORM note_proof(p_credential, p_sign_count, p_backup_state, p_evidence);
    INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest,
           assertion_digest, execution, hold_until, hold_rule, evidence_id, leaf_hash, decided_at)
    SELECT p_action, 'approved', p_challenge, p_credential, sha256(p_message), p_assertion_digest,
           new_execution, p_hold_until, p_hold_rule, e.id, e.leaf_hash, p_decided_at
      FROM evidence e WHERE e.id = (p_evidence -> 0 ->> 'id')::uuid;
    INSERT INTO execution_order (action_id, message, message_digest, signature, client_data_json,
           authenticator_data, available_at)
    VALUES (p_action, p_message, sha256(p_message), p_signature, p_client_data_json,
            p_authenticator_data, coalesce(p_hold_until, p_decided_at));
    INSERT INTO counter AS c (subject_id, dimension, window_start, used, cap)
    SELECT p_subject, r.dimension, r.window_start, r.amount, r.cap
      FROM unnest(p_dimensions, p_windows, p_amounts, p_caps)
           AS r (dimension, window_start, amount, cap)
    ON CONFLICT (subject_id, dimension, window_start)
        DO UPDATE SET used = c.used + excluded.used, cap = excluded.cap;
    INSERT INTO reservation (action_id, dimension, window_start, amount)
    SELECT p_action, r.dimension, r.window_start, r.amount
      FROM unnest(p_dimensions, p_windows, p_amounts) AS r (dimension, window_start, amount);
    IF p_payee IS NOT NULL THEN
        PERFORM confirm_payee(p_subject, p_action, p_decided_at, p_payee);
    END IF;
    UPDATE customer SET version = version + 1, failures = 0,
           contact_hold_until = greatest(contact_hold_until, p_contact_hold_until)
     WHERE subject_id = p_subject;
    RETURN 'approved';
END $$;

-- As in V0004, but that a proof is noted by note_proof.
CREATE OR REPLACE FUNCTION reject_action(p_subject uuid, p_version bigint,
    p_policy_version int, p_action uuid, p_seq int, p_challenge uuid, p_credential uuid,
    p_credential_seq int, p_decided_at timestamptz, p_message bytea, p_assertion_digest bytea, p_sign_count bigint, p_backup_state boolean,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text;
BEGIN
    IF p_credential IS NOT NULL THEN
        checked := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
            p_challenge, p_credential, p_credential_seq, p_decided_at, 'reject', p_message);
        IF checked <> 'ok' THEN
            RETURN checked;
        END IF;
    ELSE
        PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
        PERFORM 1 FROM action WHERE id = p_action AND subject_id = p_subject AND seq = p_seq
            AND "authorization" = 'pending' AND expires_at > clock_timestamp() FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, 'rejected', NULL);
    UPDATE challenge SET state = CASE WHEN id = p_challenge THEN 'consumed' ELSE 'void' END
     WHERE action_id = p_action AND state = 'live';
    INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest,
           assertion_digest, execution, evidence_id, leaf_hash, decided_at)
    SELECT p_action, 'rejected', p_challenge, p_credential, sha256(coalesce(p_message, '')),
           p_assertion_digest, 'none', e.id, e.leaf_hash, p_decided_at
      FROM evidence e WHERE e.id = (p_evidence -> 0 ->> 'id')::uuid;
    IF p_credential IS NOT NULL THEN
        PERFORM note_proof(p_credential, p_sign_count, p_backup_state, p_evidence);
        UPDATE customer SET failures = 0 WHERE subject_id = p_subject;
    END IF;
    RETURN 'rejected';
END $$;

-- As in V0004, but that a proof is noted by note_proof.
CREATE OR REPLACE FUNCTION refuse_action(p_subject uuid, p_version bigint,
    p_policy_version int, p_action uuid, p_seq int, p_challenge uuid, p_credential uuid,
    p_credential_seq int, p_decided_at timestamptz, p_message bytea, p_sign_count bigint, p_backup_state boolean, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
        p_challenge, p_credential, p_credential_seq, p_decided_at, 'approve', p_message);
BEGIN
    IF checked <> 'ok' THEN
        RETURN checked;
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, NULL, NULL);
    UPDATE challenge SET state = 'consumed' WHERE id = p_challenge;
    PERFORM note_proof(p_credential, p_sign_count, p_backup_state, p_evidence);
    UPDATE customer SET failures = 0 WHERE subject_id = p_subject;
    RETURN 'refused';
END $$;

-- As in V0004, and counts on the credential too. p_challenges and p_authorizations are NULL but for the
-- failure that suspends it: then they are all open questions of the customer, and end.
DROP FUNCTION record_failure;
CREATE FUNCTION record_failure(p_subject uuid, p_customer_failures int, p_action uuid, p_seq int,
    p_challenge uuid, p_challenge_exhausted boolean, p_action_failed boolean,
    p_credential uuid, p_credential_seq int, p_challenges uuid[], p_authorizations uuid[],
    p_locked_until timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND failures = p_customer_failures
        AND (locked_until IS NULL OR locked_until <= clock_timestamp()) FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM action WHERE id = p_action AND subject_id = p_subject AND seq = p_seq
        AND "authorization" = 'pending' AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM challenge WHERE id = p_challenge AND action_id = p_action AND state = 'live'
        AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    IF p_credential IS NOT NULL THEN
        PERFORM 1 FROM credential WHERE id = p_credential AND seq = p_credential_seq FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    IF NOT questions_are(p_subject, p_challenges, p_authorizations) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE challenge SET failures = failures + 1,
           state = CASE WHEN p_challenges IS NOT NULL THEN 'void'
                        WHEN p_action_failed OR p_challenge_exhausted THEN 'exhausted' ELSE state END
     WHERE id = p_challenge;
    PERFORM advance_action(p_action, p_evidence,
        CASE WHEN p_action_failed THEN 'failed' END, NULL);
    UPDATE action SET failures = failures + 1 WHERE id = p_action;
    IF p_credential IS NOT NULL THEN
        PERFORM count_failure(p_subject, p_credential, p_challenges, p_authorizations, p_evidence);
    END IF;
    UPDATE customer SET
           failures = CASE WHEN p_locked_until IS NULL THEN failures + 1 ELSE 0 END,
           locked_until = coalesce(p_locked_until, locked_until)
     WHERE subject_id = p_subject;
    RETURN 'recorded';
END $$;

-- As in V0005, and keeps the attestation: p_credential's member 'attested' has the columns of
-- credential_attestation, and is null when no statement came.
CREATE OR REPLACE FUNCTION enrol_credential(p_subject uuid, p_version bigint, p_enrolment uuid,
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

-- As in V0005, and counts on the credential as record_failure does.
DROP FUNCTION spend_enrolment;
CREATE FUNCTION spend_enrolment(p_subject uuid, p_customer_failures int, p_enrolment uuid,
    p_authorization uuid, p_credential uuid, p_credential_seq int, p_challenges uuid[],
    p_authorizations uuid[], p_locked_until timestamptz, p_evidence jsonb) RETURNS text
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
    IF NOT questions_are(p_subject, p_challenges, p_authorizations) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE enrolment SET spent_at = clock_timestamp() WHERE id = p_enrolment;
    UPDATE enrolment_authorization SET spent_at = clock_timestamp()
     WHERE enrolment_id = p_enrolment AND spent_at IS NULL;
    IF p_credential IS NOT NULL THEN
        PERFORM count_failure(p_subject, p_credential, p_challenges, p_authorizations, p_evidence);
    END IF;
    IF p_authorization IS NOT NULL THEN
        UPDATE customer SET
               failures = CASE WHEN p_locked_until IS NULL THEN failures + 1 ELSE 0 END,
               locked_until = coalesce(p_locked_until, locked_until)
         WHERE subject_id = p_subject;
    END IF;
    RETURN 'spent';
END $$;

-- 'revoked' or 'lost_race'. As in V0005, of a suspended credential too, and all open questions of the
-- customer, p_challenges and p_authorizations, end.
DROP FUNCTION revoke_credential;
CREATE FUNCTION revoke_credential(p_subject uuid, p_version bigint, p_credential uuid, p_seq int,
    p_revoked_at timestamptz, p_actions uuid[], p_action_seqs int[], p_challenges uuid[],
    p_authorizations uuid[], p_evidence jsonb) RETURNS text
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
        AND status <> 'revoked' AND seq = p_seq FOR UPDATE;
    IF NOT FOUND OR NOT questions_are(p_subject, p_challenges, p_authorizations) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_evidence(p_evidence, 'credential.revoked', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE credential SET status = 'revoked', revoked_at = p_revoked_at WHERE id = p_credential;
    PERFORM advance_credential(p_credential, p_evidence);
    PERFORM void_questions(p_challenges, p_authorizations);
    FOREACH open_action IN ARRAY p_actions LOOP
        IF NOT cancel_execution(p_subject, open_action, p_evidence) THEN
            RAISE EXCEPTION 'an order changed under its lock' USING ERRCODE = 'CS006';
        END IF;
    END LOOP;
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'revoked';
END $$;

GRANT SELECT, INSERT ON credential_attestation TO countersign_definer;
GRANT SELECT ON credential_attestation TO countersign_service;
GRANT UPDATE (failures) ON credential TO countersign_definer;
GRANT EXECUTE ON FUNCTION questions_are, void_questions, tells_of, note_proof, count_failure
    TO countersign_definer;
GRANT EXECUTE ON FUNCTION active_passkeys, open_questions TO countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('approve_action', 'reject_action', 'refuse_action',
                                  'record_failure', 'enrol_credential', 'spend_enrolment',
                                  'revoke_credential') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
