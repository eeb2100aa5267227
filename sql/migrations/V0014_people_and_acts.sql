-- People of the roles risk and officer with passkeys of their own, and acts: things that take effect only
-- when enough of them have signed the very same document.
-- Deployment: new tables and functions only; no lock on old data.
--
-- Locks: people of a role (advisory) or the policies (advisory), then act, challenge, keys of people by ID.
-- None of these functions touches a customer's row.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- A client of one of the two roles, from when it first wants a key. An authenticator files all keys of a
-- person under one handle.
CREATE TABLE person (
    client_id   uuid PRIMARY KEY REFERENCES client (id),
    user_handle bytea NOT NULL CONSTRAINT person_user_handle_unique UNIQUE
                CONSTRAINT person_user_handle_size CHECK (octet_length(user_handle) = 64)
);

CREATE TABLE person_key_registration (
    id         uuid PRIMARY KEY,
    client_id  uuid NOT NULL REFERENCES person (client_id),
    label      text NOT NULL,
    -- The bytes whose SHA-256 is the creation challenge.
    message    bytea NOT NULL,
    created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL,
    -- Spent by the first finish, good or bad.
    spent_at   timestamptz,
    CONSTRAINT person_key_registration_lifetime CHECK (expires_at <= created_at + interval '600 seconds')
);
CREATE INDEX person_key_registration_by_client ON person_key_registration (client_id);

CREATE TABLE person_key (
    id               uuid PRIMARY KEY,
    client_id        uuid NOT NULL REFERENCES person (client_id),
    label            text NOT NULL,
    -- DER SubjectPublicKeyInfo. Both are unique for ever and across people: nobody is two with one key.
    public_key       bytea NOT NULL CONSTRAINT person_key_public_key_unique UNIQUE,
    passkey_id       bytea NOT NULL CONSTRAINT person_key_passkey_id_unique UNIQUE
                     CONSTRAINT person_key_passkey_id_size
                     CHECK (octet_length(passkey_id) BETWEEN 1 AND 1023),
    sign_count       bigint NOT NULL, backup_eligible boolean NOT NULL, backup_state boolean NOT NULL,
    transports       text[] NOT NULL, attestation text NOT NULL,
    -- Consecutive ones; with 100 it signs no more. NIST SP 800-63B-4 §3.2.2, standards D-02.
    failures         int NOT NULL DEFAULT 0 CONSTRAINT person_key_failures_bound
                     CHECK (failures BETWEEN 0 AND 100),
    status           text NOT NULL CONSTRAINT person_key_status
                     CHECK (status IN ('pending', 'active', 'revoked')),
    registered_at    timestamptz NOT NULL, revoked_at timestamptz,
    -- The act that admitted it; NULL for the first keys of a role.
    act_id           uuid,
    evidence_id      uuid NOT NULL UNIQUE, last_evidence_id uuid NOT NULL,
    CONSTRAINT person_key_revoked_time CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);
CREATE INDEX person_key_by_client ON person_key (client_id);

CREATE TABLE act (
    id                uuid PRIMARY KEY,
    kind              text NOT NULL CONSTRAINT act_kind CHECK (kind IN
                      ('policy.publish', 'policy.tighten', 'person_key.admit', 'payee.import')),
    role              text NOT NULL CONSTRAINT act_role CHECK (role IN ('risk', 'officer')),
    -- JSON: all that the act says. What takes effect is read from these bytes and from nowhere else.
    document          bytea NOT NULL,
    digest            bytea NOT NULL GENERATED ALWAYS AS (sha256(document)) STORED,
    signatures_needed int NOT NULL,
    -- An act whose time is over stays 'open' here and is shown as expired: nothing depends on the word.
    state             text NOT NULL DEFAULT 'open' CONSTRAINT act_state
                      CHECK (state IN ('open', 'done', 'withdrawn')),
    created_by        uuid NOT NULL REFERENCES client (id),
    created_at        timestamptz NOT NULL, expires_at timestamptz NOT NULL, closed_at timestamptz,
    last_evidence_id  uuid,
    -- How many people an act needs is settled by its kind, not by who makes it.
    CONSTRAINT act_people CHECK (signatures_needed = CASE kind WHEN 'policy.tighten' THEN 1 ELSE 2 END),
    CONSTRAINT act_role_of_kind CHECK (role = 'risk' OR kind = 'person_key.admit'),
    CONSTRAINT act_lifetime CHECK (expires_at <= created_at + interval '7 days'),
    CONSTRAINT act_closed_time CHECK ((state = 'open') = (closed_at IS NULL))
);
CREATE INDEX act_open ON act (role, id) WHERE state = 'open';

CREATE TABLE act_challenge (
    id         uuid PRIMARY KEY,
    act_id     uuid NOT NULL REFERENCES act (id),
    client_id  uuid NOT NULL REFERENCES client (id),
    stage      text NOT NULL CONSTRAINT act_challenge_stage CHECK (stage IN ('propose', 'approve')),
    message    bytea NOT NULL CONSTRAINT act_challenge_message_unique UNIQUE,
    state      text NOT NULL DEFAULT 'live' CONSTRAINT act_challenge_state
               CHECK (state IN ('live', 'superseded', 'consumed', 'failed')),
    created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL,
    CONSTRAINT act_challenge_lifetime CHECK (expires_at <= created_at + interval '600 seconds')
);
CREATE UNIQUE INDEX act_challenge_one_live ON act_challenge (act_id, client_id) WHERE state = 'live';

-- One of a person, whatever key.
CREATE TABLE act_signature (
    act_id             uuid NOT NULL REFERENCES act (id),
    client_id          uuid NOT NULL REFERENCES person (client_id),
    person_key_id      uuid NOT NULL REFERENCES person_key (id),
    challenge_id       uuid NOT NULL UNIQUE REFERENCES act_challenge (id),
    stage              text NOT NULL,
    message            bytea NOT NULL,
    client_data_json   bytea NOT NULL, authenticator_data bytea NOT NULL, signature bytea NOT NULL,
    signed_at          timestamptz NOT NULL,
    evidence_id        uuid NOT NULL UNIQUE,
    PRIMARY KEY (act_id, client_id)
);

-- Whether this transaction wrote that record of the service itself, of one of these kinds.
CREATE FUNCTION is_told_now(p_evidence uuid, p_kinds text[]) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM evidence e WHERE e.id = p_evidence AND e.kind = ANY (p_kinds)
                      AND e.xid = pg_current_xact_id() AND e.subject_id = '00000000-0000-0000-0000-000000000000');
END $$;

CREATE FUNCTION guard_person_key() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF (new.id, new.client_id, new.label, new.public_key, new.passkey_id, new.backup_eligible,
        new.transports, new.attestation, new.registered_at, new.evidence_id)
       IS DISTINCT FROM
       (old.id, old.client_id, old.label, old.public_key, old.passkey_id, old.backup_eligible,
        old.transports, old.attestation, old.registered_at, old.evidence_id) THEN
        RAISE EXCEPTION 'the key of a person is immutable' USING ERRCODE = 'CS003';
    END IF;
    IF new.status <> old.status THEN
        IF (old.status, new.status) NOT IN (
            ('pending', 'active'), ('pending', 'revoked'), ('active', 'revoked')) THEN
            RAISE EXCEPTION 'the end of a key is final' USING ERRCODE = 'CS004';
        END IF;
        IF NOT is_told_now(new.last_evidence_id, CASE new.status
               WHEN 'active' THEN ARRAY['person.key_admitted'] ELSE ARRAY['person.key_revoked'] END) THEN
            RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
        END IF;
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON person_key FOR EACH ROW EXECUTE FUNCTION guard_person_key();

CREATE FUNCTION guard_act() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF (new.id, new.kind, new.role, new.document, new.signatures_needed, new.created_by, new.created_at,
        new.expires_at)
       IS DISTINCT FROM
       (old.id, old.kind, old.role, old.document, old.signatures_needed, old.created_by, old.created_at,
        old.expires_at) THEN
        RAISE EXCEPTION 'the content of an act is immutable' USING ERRCODE = 'CS003';
    END IF;
    IF old.state <> 'open' THEN
        RAISE EXCEPTION 'an act ends once' USING ERRCODE = 'CS004';
    END IF;
    IF new.state <> 'open' AND NOT is_told_now(new.last_evidence_id, CASE new.state
           WHEN 'withdrawn' THEN ARRAY['act.withdrawn']
           ELSE ARRAY['policy.published', 'person.key_admitted', 'act.approved'] END) THEN
        RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON act FOR EACH ROW EXECUTE FUNCTION guard_act();
ALTER TABLE person_key ENABLE ALWAYS TRIGGER guard;
ALTER TABLE act ENABLE ALWAYS TRIGGER guard;

DO $$
DECLARE
    name text;
BEGIN
    -- Rows of these are never deleted, and those of the first two never changed.
    FOREACH name IN ARRAY ARRAY['person', 'act_signature', 'person_key_registration', 'person_key', 'act',
                                'act_challenge'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE %s ON %I FOR EACH ROW EXECUTE FUNCTION forbid_change()',
            CASE WHEN name IN ('person', 'act_signature') THEN 'UPDATE OR DELETE' ELSE 'DELETE' END, name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
            FOR EACH STATEMENT EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate', name);
    END LOOP;
END $$;

-- Demands that the entries are exactly of these kinds, in order, and of the service itself.
CREATE FUNCTION demand_service_evidence(entries jsonb, p_kinds text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    IF ((SELECT array_agg(x.value ->> 'kind' ORDER BY x.n)
           FROM jsonb_array_elements(entries) WITH ORDINALITY AS x (value, n)) = p_kinds
        AND NOT EXISTS (SELECT FROM jsonb_array_elements(entries) AS x (value)
            WHERE x.value ->> 'subject_id' <> '00000000-0000-0000-0000-000000000000'
               OR x.value ->> 'action_id' IS NOT NULL OR x.value ->> 'credential_id' IS NOT NULL))
        IS NOT TRUE THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
END $$;

-- The role of a person who may act now; NULL for anybody else.
CREATE FUNCTION role_of_person(p_client uuid) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT role FROM client
             WHERE id = p_client AND removed_at IS NULL AND role IN ('risk', 'officer'));
END $$;

-- Whoever registers, admits or revokes a key of a role waits here for the others.
CREATE FUNCTION lock_people(p_role text) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7013, CASE p_role WHEN 'risk' THEN 1 ELSE 2 END);
END $$;

-- Whether a key of this person is admitted at once: fewer than two people of the role have one, so that
-- nobody could admit it, and this person is not one of them. The caller holds lock_people.
CREATE FUNCTION is_founding_person(p_client uuid, p_role text) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT count(DISTINCT k.client_id) < 2 AND count(*) FILTER (WHERE k.client_id = p_client) = 0
              FROM person_key k JOIN client c ON c.id = k.client_id
             WHERE k.status = 'active' AND c.role = p_role AND c.removed_at IS NULL);
END $$;

-- 'begun', 'too_many_open' or 'lost_race'; p_open_max bounds a person's open registrations and keys
-- together. Nothing is believed yet, so there is no evidence yet.
CREATE FUNCTION begin_person_key(p_client uuid, p_user_handle bytea, p_open_max int,
    p_registration uuid, p_label text, p_message bytea, p_created_at timestamptz,
    p_expires_at timestamptz) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_role text := role_of_person(p_client);
BEGIN
    IF the_role IS NULL THEN RETURN 'lost_race'; END IF;
    PERFORM lock_people(the_role);
    INSERT INTO person (client_id, user_handle) VALUES (p_client, p_user_handle) ON CONFLICT DO NOTHING;
    IF NOT EXISTS (SELECT FROM person WHERE client_id = p_client AND user_handle = p_user_handle) THEN
        RETURN 'lost_race';
    END IF;
    IF (SELECT count(*) FROM person_key_registration WHERE client_id = p_client AND spent_at IS NULL
           AND expires_at > clock_timestamp())
       + (SELECT count(*) FROM person_key WHERE client_id = p_client AND status <> 'revoked')
       >= p_open_max THEN RETURN 'too_many_open'; END IF;
    INSERT INTO person_key_registration VALUES (p_registration, p_client, p_label, p_message, p_created_at,
        p_expires_at);
    RETURN 'begun';
END $$;

-- 'registered', 'lost_race' or 'key_exists'. p_key carries the row's columns by name; its status is what
-- the evidence says, and is compared with what holds under the lock.
CREATE FUNCTION register_person_key(p_client uuid, p_registration uuid, p_message bytea, p_key jsonb,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    fresh person_key := jsonb_populate_record(NULL::person_key, p_key);
    the_registration person_key_registration;
    the_role text := role_of_person(p_client);
    at timestamptz;
BEGIN
    IF the_role IS NULL THEN RETURN 'lost_race'; END IF;
    PERFORM lock_people(the_role);
    SELECT * INTO the_registration FROM person_key_registration WHERE id = p_registration FOR UPDATE;
    at := clock_timestamp();
    IF (the_registration.client_id = p_client AND the_registration.spent_at IS NULL
        AND the_registration.expires_at > at AND the_registration.message = p_message
        AND fresh.registered_at BETWEEN at - decision_age_max() AND at
        AND fresh.status = CASE WHEN is_founding_person(p_client, the_role) THEN 'active'
                                ELSE 'pending' END) IS NOT TRUE THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['person.key_registered']);
    fresh.client_id := p_client; fresh.label := the_registration.label;
    fresh.failures := 0;
    fresh.act_id := NULL; fresh.revoked_at := NULL;
    fresh.evidence_id := (p_evidence -> 0 ->> 'id')::uuid; fresh.last_evidence_id := fresh.evidence_id;
    INSERT INTO person_key SELECT fresh.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN 'key_exists'; END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE person_key_registration SET spent_at = at WHERE id = p_registration;
    RETURN 'registered';
END $$;

-- 'spent' or 'lost_race': a registration that failed. It cannot be tried again.
CREATE FUNCTION spend_person_key_registration(p_client uuid, p_registration uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM person_key_registration WHERE id = p_registration AND client_id = p_client
        AND spent_at IS NULL AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['attempt.failed']);
    PERFORM write_evidence(p_evidence);
    UPDATE person_key_registration SET spent_at = clock_timestamp() WHERE id = p_registration;
    RETURN 'spent';
END $$;

-- 'revoked' or 'lost_race'. p_owner is who asks, whose key it must be; NULL is the operator.
CREATE FUNCTION revoke_person_key(p_key uuid, p_owner uuid, p_revoked_at timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF p_owner IS NULL AND NOT pg_has_role(session_user, 'countersign_operator', 'MEMBER') THEN
        RAISE EXCEPTION 'only the operator revokes keys of others' USING ERRCODE = 'CS007';
    END IF;
    -- Of a role that the person has no more, too: the end of a key always goes through.
    PERFORM lock_people((SELECT c.role FROM person_key k JOIN client c ON c.id = k.client_id
                          WHERE k.id = p_key));
    PERFORM 1 FROM person_key WHERE id = p_key AND status <> 'revoked'
        AND (p_owner IS NULL OR client_id = p_owner) FOR UPDATE;
    -- Evidence is read in the order of its IDs: the end of a key is told after all that it has brought about.
    IF NOT FOUND OR EXISTS (SELECT FROM act_signature s JOIN act a ON a.id = s.act_id WHERE s.person_key_id = p_key
            AND greatest(s.evidence_id, a.last_evidence_id) >= (p_evidence -> 0 ->> 'id')::uuid)
        OR (p_revoked_at BETWEEN clock_timestamp() - decision_age_max()
            AND clock_timestamp()) IS NOT TRUE THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['person.key_revoked']);
    PERFORM write_evidence(p_evidence);
    UPDATE person_key SET status = 'revoked', revoked_at = p_revoked_at,
           last_evidence_id = (p_evidence -> 0 ->> 'id')::uuid WHERE id = p_key;
    RETURN 'revoked';
END $$;

-- Whether a message asks for an act's challenge what the stored rows say.
CREATE FUNCTION act_message_matches(a act, c act_challenge) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (convert_from(c.message, 'UTF8')::jsonb - 'audience' - 'nonce' - 'expires_at')
        = jsonb_build_object('version', 'countersign-act/1', 'purpose', a.kind, 'act_id', a.id,
              'person', (SELECT name FROM client WHERE id = c.client_id), 'role', a.role,
              'document_digest', encode(a.digest, 'hex'), 'stage', c.stage, 'challenge_id', c.id);
END $$;

-- Stores a challenge, in place of the person's earlier one of this act. The caller holds the act's row.
CREATE FUNCTION put_act_challenge(p_act act, p_challenge jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    fresh act_challenge := jsonb_populate_record(NULL::act_challenge, p_challenge);
BEGIN
    fresh.act_id := p_act.id;
    fresh.state := 'live';
    -- The proposer proposes and everybody else approves.
    IF (act_message_matches(p_act, fresh)
        AND (fresh.stage = 'propose') = (fresh.client_id = p_act.created_by)) IS NOT TRUE THEN
        RAISE EXCEPTION 'the message is not about this act' USING ERRCODE = 'CS003';
    END IF;
    UPDATE act_challenge SET state = 'superseded' WHERE act_id = fresh.act_id
       AND client_id = fresh.client_id AND state = 'live';
    INSERT INTO act_challenge SELECT fresh.*;
END $$;

-- 'created', 'too_many_open' or 'lost_race'; p_open_max bounds the person's open acts. p_act and
-- p_challenge carry the rows' columns by name. Nobody has signed yet, so there is no evidence yet.
CREATE FUNCTION create_act(p_act jsonb, p_challenge jsonb, p_open_max int) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    fresh act := jsonb_populate_record(NULL::act, p_act);
BEGIN
    IF role_of_person(fresh.created_by) IS DISTINCT FROM fresh.role THEN RETURN 'lost_race'; END IF;
    PERFORM lock_people(fresh.role);
    IF (SELECT count(*) FROM act WHERE role = fresh.role AND created_by = fresh.created_by
           AND state = 'open' AND expires_at > clock_timestamp()) >= p_open_max THEN
        RETURN 'too_many_open';
    END IF;
    INSERT INTO act (id, kind, role, document, signatures_needed, created_by, created_at, expires_at)
    VALUES (fresh.id, fresh.kind, fresh.role, fresh.document, fresh.signatures_needed,
            fresh.created_by, fresh.created_at, fresh.expires_at);
    SELECT * INTO fresh FROM act WHERE id = fresh.id;
    PERFORM put_act_challenge(fresh, p_challenge);
    RETURN 'created';
END $$;

-- 'issued' or 'lost_race'.
CREATE FUNCTION issue_act_challenge(p_act uuid, p_challenge jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
BEGIN
    SELECT * INTO the_act FROM act WHERE id = p_act FOR UPDATE;
    IF (the_act.state = 'open' AND the_act.expires_at > clock_timestamp()
        AND role_of_person((p_challenge ->> 'client_id')::uuid) = the_act.role
        AND NOT EXISTS (SELECT FROM act_signature WHERE act_id = p_act
                           AND client_id = (p_challenge ->> 'client_id')::uuid)) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    PERFORM put_act_challenge(the_act, p_challenge);
    RETURN 'issued';
END $$;

-- 'recorded' or 'lost_race': an answer to a live challenge that was not believed. The challenge is spent,
-- and the failure counts against the key that the answer named, when it is the person's.
CREATE FUNCTION fail_act_signature(p_act uuid, p_client uuid, p_challenge uuid, p_key uuid,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM act WHERE id = p_act FOR UPDATE;
    PERFORM 1 FROM act_challenge WHERE id = p_challenge AND act_id = p_act AND client_id = p_client
        AND state = 'live' AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['attempt.failed']);
    PERFORM write_evidence(p_evidence);
    UPDATE act_challenge SET state = 'failed' WHERE id = p_challenge;
    UPDATE person_key SET failures = least(failures + 1, 100) WHERE id = p_key AND client_id = p_client;
    RETURN 'recorded';
END $$;

-- How many people have signed an act with keys that are still good. One person counts once: the primary
-- key of act_signature sees to it.
CREATE FUNCTION people_behind(p_act uuid) RETURNS int
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FROM act_signature s
              JOIN act a ON a.id = s.act_id
              JOIN person_key k ON k.id = s.person_key_id AND k.client_id = s.client_id
              JOIN client c ON c.id = s.client_id
             WHERE s.act_id = p_act AND k.status = 'active' AND c.removed_at IS NULL
               AND c.role = a.role);
END $$;

-- Records a signature that the service has verified, if all that it was verified on still holds, and if it
-- is, or is not, the last that the act needs: p_last. False for a lost race; then nothing was written.
-- p_signature carries the row's columns by name; p_key_state is the key's sign count before and after, and
-- its backup state after.
CREATE FUNCTION take_act_signature(p_kinds text[], p_last boolean, p_signature jsonb, p_key_state jsonb,
    p_evidence uuid) RETURNS boolean
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
    -- IS NOT TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    IF (the_act.kind = ANY (p_kinds) AND the_act.state = 'open' AND the_act.expires_at > at
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
        AND (people_behind(s.act_id) + 1 >= the_act.signatures_needed) = p_last) IS NOT TRUE THEN
        RETURN false;
    END IF;
    s.stage := the_challenge.stage; s.evidence_id := p_evidence;
    INSERT INTO act_signature SELECT s.*;
    UPDATE act_challenge SET state = 'consumed' WHERE id = s.challenge_id;
    UPDATE person_key SET sign_count = (p_key_state ->> 'sign_count')::bigint,
           backup_state = (p_key_state ->> 'backup_state')::boolean, failures = 0
     WHERE id = s.person_key_id;
    RETURN true;
END $$;

-- The kind of evidence that tells of a signature.
CREATE FUNCTION signature_kind(p_act_kind text, p_stage text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_act_kind LIKE 'policy.%' THEN 'policy.' ELSE 'act.' END
        || CASE p_stage WHEN 'propose' THEN 'proposed' ELSE 'approved' END
$$;

-- Ends an act with the evidence that was written last.
CREATE FUNCTION close_act(p_act uuid, p_state text, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE act SET state = p_state, closed_at = clock_timestamp(),
           last_evidence_id = (p_evidence -> -1 ->> 'id')::uuid WHERE id = p_act;
END $$;

-- 'signed' or 'lost_race': a signature after which the act needs more.
CREATE FUNCTION sign_act(p_signature jsonb, p_key_state jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT take_act_signature(ARRAY['policy.publish', 'person_key.admit', 'payee.import'], false,
            p_signature, p_key_state, (p_evidence -> 0 ->> 'id')::uuid) THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY[(
        SELECT signature_kind(a.kind, s.stage) FROM act_signature s JOIN act a ON a.id = s.act_id
         WHERE s.challenge_id = (p_signature ->> 'challenge_id')::uuid)]);
    PERFORM write_evidence(p_evidence);
    RETURN 'signed';
END $$;

-- 'done' or 'lost_race': the last signature of an act policy.publish or policy.tighten, and the new version.
-- All of the version is read from the signed document; p_active_from is its time, or the earliest possible
-- when that has passed: one second from now at the least, so that it is visible before it is in force, and
-- whoever decides from then on decides under it. A version is never in force before one that was published earlier, unless it only
-- tightens: then it takes the place of those that wait, which the service has compared it with too.
CREATE FUNCTION publish_policy(p_signature jsonb, p_key_state jsonb, p_version int,
    p_active_from timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
    content json;
    stated timestamptz;
    newest int;
    at timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(7013, 0);
    SELECT * INTO the_act FROM act WHERE id = (p_signature ->> 'act_id')::uuid FOR UPDATE;
    content := convert_from(the_act.document, 'UTF8')::json;
    stated := coalesce((content ->> 'active_from')::timestamptz, '-infinity');
    newest := (SELECT max(version) FROM policy);
    at := clock_timestamp();
    IF (the_act.kind IN ('policy.publish', 'policy.tighten')
        AND (content ->> 'base_version')::int = newest AND p_version = newest + 1
        AND (stated = '-infinity' OR stated >= at - interval '60 seconds')
        AND p_active_from >= greatest(stated, at + interval '1 second')
        AND p_active_from <= greatest(stated, at + decision_age_max())
        AND (the_act.kind = 'policy.tighten' OR p_active_from >= (
            SELECT max(active_from) FROM policy WHERE version >= active_policy_version())))
        IS NOT TRUE THEN RETURN 'lost_race'; END IF;
    IF NOT take_act_signature(ARRAY['policy.publish', 'policy.tighten'], true, p_signature, p_key_state,
            (p_evidence -> 0 ->> 'id')::uuid) THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY[
        (SELECT signature_kind(the_act.kind, stage) FROM act_signature
          WHERE challenge_id = (p_signature ->> 'challenge_id')::uuid), 'policy.published']);
    PERFORM write_evidence(p_evidence);
    INSERT INTO policy (version, document, time_zone, active_from)
    VALUES (p_version, convert_to((content -> 'policy')::text, 'UTF8'),
            content -> 'policy' ->> 'time_zone', p_active_from);
    PERFORM close_act(the_act.id, 'done', p_evidence);
    RETURN 'done';
END $$;

-- 'done' or 'lost_race': the last signature of an act person_key.admit, and the key is active.
CREATE FUNCTION admit_person_key(p_signature jsonb, p_key_state jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
BEGIN
    SELECT * INTO the_act FROM act WHERE id = (p_signature ->> 'act_id')::uuid;
    PERFORM lock_people(the_act.role);
    IF NOT take_act_signature(ARRAY['person_key.admit'], true, p_signature, p_key_state,
            (p_evidence -> 0 ->> 'id')::uuid) THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY[
        (SELECT signature_kind(the_act.kind, stage) FROM act_signature
          WHERE challenge_id = (p_signature ->> 'challenge_id')::uuid), 'person.key_admitted']);
    PERFORM write_evidence(p_evidence);
    UPDATE person_key k SET status = 'active', act_id = the_act.id,
           last_evidence_id = (p_evidence -> -1 ->> 'id')::uuid
      FROM client c
     WHERE k.id = (convert_from(the_act.document, 'UTF8')::jsonb ->> 'key_id')::uuid
       AND k.status = 'pending' AND c.id = k.client_id AND c.role = the_act.role
       AND c.removed_at IS NULL
       AND encode(sha256(k.public_key), 'hex')
           = convert_from(the_act.document, 'UTF8')::jsonb ->> 'public_key_digest';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the key is not the one that was signed' USING ERRCODE = 'CS003';
    END IF;
    PERFORM close_act(the_act.id, 'done', p_evidence);
    RETURN 'done';
END $$;

-- 'withdrawn' or 'lost_race'. Anybody of the role may: to stop is always allowed.
CREATE FUNCTION withdraw_act(p_act uuid, p_client uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM act WHERE id = p_act AND state = 'open' AND role = role_of_person(p_client) FOR UPDATE;
    IF NOT FOUND THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['act.withdrawn']);
    PERFORM write_evidence(p_evidence);
    PERFORM close_act(p_act, 'withdrawn', p_evidence);
    RETURN 'withdrawn';
END $$;

GRANT SELECT, INSERT ON person, person_key_registration, person_key, act, act_challenge, act_signature,
    policy TO countersign_definer;
GRANT UPDATE (spent_at) ON person_key_registration TO countersign_definer;
GRANT UPDATE (sign_count, backup_state, failures, status, act_id, revoked_at, last_evidence_id)
    ON person_key TO countersign_definer;
GRANT UPDATE (state, closed_at, last_evidence_id) ON act TO countersign_definer;
GRANT UPDATE (state) ON act_challenge TO countersign_definer;
GRANT SELECT ON person, person_key_registration, person_key, act, act_challenge, act_signature
    TO countersign_service;
GRANT SELECT ON person_key, act TO countersign_operator, countersign_auditor;
GRANT EXECUTE ON FUNCTION is_told_now, guard_person_key, guard_act, demand_service_evidence,
    role_of_person, lock_people, is_founding_person, act_message_matches, put_act_challenge,
    people_behind, take_act_signature, signature_kind, close_act
    TO countersign_definer;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('begin_person_key', 'register_person_key',
                                  'spend_person_key_registration', 'revoke_person_key', 'create_act',
                                  'issue_act_challenge', 'fail_act_signature', 'sign_act',
                                  'publish_policy', 'admit_person_key', 'withdraw_act') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION countersign.revoke_person_key TO countersign_operator;
