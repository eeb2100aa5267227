-- Erasure of a customer by the data-protection role, and legal holds against it. The one way in which a body of
-- evidence, a data key or the content of an action ever goes: leaves, positions and proofs stay as they are.
-- Deployment: columns without a default and constraints that are NOT VALID: nothing is rewritten; triggers and
-- the customer's primary key are made anew, which locks their tables for a moment.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- What was erased, in which transaction. Rows are only added.
CREATE TABLE erasure (
    subject_id      uuid PRIMARY KEY,
    evidence_id     uuid NOT NULL CONSTRAINT erasure_evidence UNIQUE,
    xid             xid8 NOT NULL DEFAULT pg_current_xact_id(),
    erased_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Records of the service itself that were about this customer: their bodies went too.
    service_records uuid[] NOT NULL
);
CREATE INDEX erasure_by_xid ON erasure (xid);

-- A legal hold stands until it is lifted; while one stands, nothing of the customer is erased or detached.
CREATE TABLE legal_hold (
    evidence_id        uuid PRIMARY KEY,
    subject_id         uuid NOT NULL REFERENCES customer (subject_id),
    set_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    lifted_evidence_id uuid CONSTRAINT legal_hold_lifted_evidence UNIQUE,
    lifted_at          timestamptz,
    CONSTRAINT legal_hold_lifted CHECK ((lifted_evidence_id IS NULL) = (lifted_at IS NULL))
);
CREATE UNIQUE INDEX legal_hold_one_stands ON legal_hold (subject_id) WHERE lifted_at IS NULL;

-- Whether this statement runs inside of an erasure: as the role to which the function belongs and nobody else,
-- and after the transaction has said whom it erases.
CREATE FUNCTION is_erasing() RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN current_user = 'countersign_eraser'
        AND EXISTS (SELECT FROM erasure WHERE xid = pg_current_xact_id());
END $$;

-- And of this very subject's body, or of a record of the service that the erasure names.
CREATE FUNCTION is_erasing_body(p_subject uuid, p_evidence uuid) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN current_user = 'countersign_eraser'
        AND EXISTS (SELECT FROM erasure WHERE xid = pg_current_xact_id()
                       AND (subject_id = p_subject OR p_evidence = ANY (service_records)));
END $$;

-- Rows that never change and never go, but in an erasure: each trigger stays as it is, with this one exception.
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT g.tgrelid::regclass AS table_name, g.tgname AS name, pg_get_triggerdef(g.oid) AS made_by
               FROM pg_trigger g JOIN (VALUES
                    ('action', 'guard'), ('challenge', 'no_delete'), ('receipt', 'no_change'),
                    ('contradiction', 'no_change'), ('customer_limit', 'no_change'), ('act', 'guard'),
                    ('event', 'guard'), ('policy_decision', 'no_young_delete'),
                    ('credential_attestation', 'no_change'))
                    AS x (table_name, name) ON g.tgname = x.name
                    AND g.tgrelid = ('countersign.' || x.table_name)::regclass LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', t.name, t.table_name);
        EXECUTE replace(t.made_by, ' EXECUTE FUNCTION ',
                        ' WHEN (NOT countersign.is_erasing()) EXECUTE FUNCTION ');
        EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', t.table_name, t.name);
    END LOOP;
END $$;
DROP TRIGGER no_delete ON evidence_body;
CREATE TRIGGER no_delete BEFORE DELETE ON evidence_body FOR EACH ROW
    WHEN (NOT countersign.is_erasing_body(old.subject_id, old.evidence_id)) EXECUTE FUNCTION forbid_change();
DROP TRIGGER no_change ON subject_key;
CREATE TRIGGER no_change BEFORE UPDATE ON subject_key FOR EACH ROW
    WHEN (NOT (countersign.is_erasing_body(old.subject_id, NULL) AND new.wrapped IS NULL
               AND new.subject_id = old.subject_id)) EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_delete BEFORE DELETE ON subject_key FOR EACH ROW EXECUTE FUNCTION forbid_change();
-- The end of a key that ends with its customer is no news to the bank.
DROP TRIGGER tell ON credential;
CREATE TRIGGER tell AFTER UPDATE OF status ON credential FOR EACH ROW
    WHEN (new.status <> old.status AND NOT countersign.is_erasing()) EXECUTE FUNCTION tell_of_credential();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON erasure FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON erasure FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
-- A hold is lifted once.
CREATE FUNCTION guard_legal_hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.lifted_at IS NOT NULL OR new.lifted_at IS NULL
        OR (new.evidence_id, new.subject_id, new.set_at)
           IS DISTINCT FROM (old.evidence_id, old.subject_id, old.set_at) THEN
        RAISE EXCEPTION 'append-only: a legal hold is only lifted' USING ERRCODE = 'CS001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON legal_hold FOR EACH ROW EXECUTE FUNCTION guard_legal_hold();
CREATE TRIGGER no_delete BEFORE DELETE ON legal_hold FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON legal_hold FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE evidence_body ENABLE ALWAYS TRIGGER no_delete;
ALTER TABLE subject_key ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_delete;
ALTER TABLE erasure ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;
ALTER TABLE legal_hold ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_delete,
    ENABLE ALWAYS TRIGGER no_truncate;

-- What is erased is empty, and nothing else is.
ALTER TABLE customer ADD COLUMN erased_at timestamptz;
ALTER TABLE customer DROP CONSTRAINT customer_pkey, ALTER COLUMN customer_id DROP NOT NULL,
    ADD CONSTRAINT customer_pkey PRIMARY KEY (subject_id), ADD CONSTRAINT customer_id_unique UNIQUE (customer_id),
    ADD CONSTRAINT customer_erased CHECK ((customer_id IS NULL) = (erased_at IS NOT NULL)) NOT VALID;
ALTER TABLE action ADD COLUMN erased_at timestamptz, DROP CONSTRAINT action_members,
    ADD CONSTRAINT action_members CHECK (erased_at IS NOT NULL OR CASE kind
        WHEN 'transfer' THEN num_nulls(amount, amount_minor, currency, debtor_account, payee_name,
                                       payee_account, reference, end_to_end_id) = 0
                         AND num_nonnulls(payee_alias, channel, old_value_digest, new_value, limit_name) = 0
                         AND amount_minor > 0
        WHEN 'new_payee' THEN num_nulls(payee_name, payee_account, payee_alias) = 0
                          AND num_nonnulls(amount, amount_minor, currency, debtor_account, reference,
                                           end_to_end_id, channel, old_value_digest, new_value, limit_name) = 0
        WHEN 'limit_change' THEN num_nulls(limit_name, amount, amount_minor, currency) = 0
                             AND limit_name IN ('single_max', 'daily_max') AND amount_minor >= 0
                             AND num_nonnulls(debtor_account, payee_name, payee_account, payee_alias, reference,
                                              end_to_end_id, channel, old_value_digest, new_value) = 0
        ELSE num_nulls(channel, old_value_digest, new_value) = 0
             AND channel IN ('phone', 'email')
             AND num_nonnulls(amount, amount_minor, currency, debtor_account, payee_name,
                              payee_account, payee_alias, reference, end_to_end_id, limit_name) = 0
        END) NOT VALID,
    ADD CONSTRAINT action_erased CHECK (erased_at IS NULL OR num_nonnulls(external_id, amount, amount_minor, currency,
        debtor_account, payee_name, payee_account, payee_alias, reference, end_to_end_id, channel, old_value_digest,
        new_value, limit_name, limit_before, risk) = 0) NOT VALID,
    ADD CONSTRAINT action_erased_is_over CHECK (erased_at IS NULL
        OR "authorization" <> 'pending' AND execution IN ('none', 'executed', 'refused', 'cancelled')) NOT VALID;
ALTER TABLE challenge ADD COLUMN erased_at timestamptz, ALTER COLUMN approve_message DROP NOT NULL,
    ALTER COLUMN reject_message DROP NOT NULL, ALTER COLUMN nonce DROP NOT NULL,
    ADD CONSTRAINT challenge_erased CHECK (num_nonnulls(nonce, approve_message, reject_message)
        = CASE WHEN erased_at IS NULL THEN 3 ELSE 0 END) NOT VALID;
ALTER TABLE execution_order ADD COLUMN erased_at timestamptz, ALTER COLUMN message DROP NOT NULL,
    DROP CONSTRAINT execution_order_signed,
    ADD CONSTRAINT execution_order_signed CHECK (erased_at IS NOT NULL OR message IS NOT NULL
        AND (signature IS NULL) = (act_id IS NOT NULL)
        AND (act_id IS NULL OR num_nonnulls(client_data_json, authenticator_data) = 0)) NOT VALID,
    ADD CONSTRAINT execution_order_erased CHECK (erased_at IS NULL OR settled_at IS NOT NULL
        AND num_nonnulls(message, signature, client_data_json, authenticator_data) = 0) NOT VALID;
ALTER TABLE receipt ADD COLUMN erased_at timestamptz, ALTER COLUMN raw DROP NOT NULL,
    ADD CONSTRAINT receipt_erased CHECK (num_nonnulls(raw) = CASE WHEN erased_at IS NULL THEN 1 ELSE 0 END
        AND (erased_at IS NULL OR num_nonnulls(reference, reason) = 0)) NOT VALID;

-- Which action an act of officers is about: read off its document, by which it is found when that is erased.
ALTER TABLE act ADD COLUMN action_id uuid, ADD COLUMN erased_at timestamptz,
    ALTER COLUMN document DROP NOT NULL, ALTER COLUMN digest DROP EXPRESSION,
    ADD CONSTRAINT act_erased CHECK ((document IS NULL) = (erased_at IS NOT NULL)
        AND (erased_at IS NULL OR action_id IS NOT NULL)) NOT VALID,
    ADD CONSTRAINT act_digest CHECK (digest IS NOT NULL AND digest = sha256(document)) NOT VALID;
ALTER TABLE act DISABLE TRIGGER guard;
UPDATE act SET action_id = (convert_from(document, 'UTF8')::jsonb ->> 'action_id')::uuid
 WHERE kind IN ('hold.release', 'hold.cancel', 'action.approve');
ALTER TABLE act ENABLE ALWAYS TRIGGER guard;
CREATE INDEX act_by_action ON act (action_id) WHERE action_id IS NOT NULL;

-- No act is made about what is being erased: the action's row is locked before it is looked at.
CREATE FUNCTION derive_act() RETURNS trigger LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    new.digest := sha256(new.document);
    new.action_id := NULL;
    IF new.kind IN ('hold.release', 'hold.cancel', 'action.approve') THEN
        new.action_id := (convert_from(new.document, 'UTF8')::jsonb ->> 'action_id')::uuid;
        PERFORM 1 FROM action WHERE id = new.action_id AND erased_at IS NULL FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'an act needs its action' USING ERRCODE = 'CS011';
        END IF;
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER derive BEFORE INSERT ON act FOR EACH ROW EXECUTE FUNCTION derive_act();
ALTER TABLE act ENABLE ALWAYS TRIGGER derive;

-- As in V0001, and nothing is recorded of a customer who was erased. Every writer holds the customer's row, so
-- that this sees an erasure which was quicker.
CREATE OR REPLACE FUNCTION stamp_evidence() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    id_ms bigint := ('x' || substr(replace(new.id::text, '-', ''), 1, 12))::bit(48)::bigint;
BEGIN
    new.xid := pg_current_xact_id();
    new.recorded_at := clock_timestamp();
    IF substr(new.id::text, 15, 1) <> '7'
        OR abs(id_ms - extract(epoch FROM new.recorded_at) * 1000) > 300000 THEN
        RAISE EXCEPTION 'an evidence id must be a fresh UUIDv7' USING ERRCODE = 'CS002';
    END IF;
    IF EXISTS (SELECT FROM erasure WHERE subject_id = new.subject_id) THEN
        RAISE EXCEPTION 'this customer was erased' USING ERRCODE = 'CS011';
    END IF;
    RETURN new;
END $$;

-- As in V0001, but that the body of a record of the service itself may be a customer's (body_subject_id): it is
-- encrypted under that customer's key, and goes with it. Whoever writes such a record holds the act, which an
-- erasure locks before it looks.
CREATE OR REPLACE FUNCTION write_evidence(entries jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
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

-- The law's least: records of payments are kept for five years, of which one has a leap day or two.
CREATE FUNCTION evidence_retention_min() RETURNS int LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT CASE WHEN is_development() THEN 0 ELSE 1826 END
$$;

-- The records of the service itself whose bodies are about a customer: sealed under the customer's key, or from
-- before that was so, told by a signature of an act about one of the customer's actions.
CREATE FUNCTION service_records_of(p_subject uuid) RETURNS uuid[]
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT coalesce(array_agg(x.id ORDER BY x.id), '{}') FROM (
        SELECT b.evidence_id AS id FROM evidence_body b JOIN evidence e ON e.id = b.evidence_id
         WHERE b.subject_id = p_subject AND e.subject_id <> p_subject
        UNION
        SELECT s.evidence_id FROM action a JOIN act t ON t.action_id = a.id
          JOIN act_signature s ON s.act_id = t.id JOIN evidence_body b ON b.evidence_id = s.evidence_id
         WHERE a.subject_id = p_subject) x
$$;

-- When the newest record about a customer was made; that of a legal hold does not count, which says nothing of
-- what the customer did. NULL when none is left.
CREATE FUNCTION newest_record_of(p_subject uuid) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT max(x.recorded_at) FROM (
        (SELECT recorded_at FROM evidence WHERE subject_id = p_subject
            AND kind NOT IN ('subject.hold_set', 'subject.hold_lifted') ORDER BY id DESC LIMIT 1)
        UNION ALL
        SELECT e.recorded_at FROM evidence e WHERE e.id = ANY (service_records_of(p_subject))) x
$$;

-- 'set', 'exists' (one stands already) or 'unknown'.
CREATE FUNCTION set_legal_hold(p_subject uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND erased_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'unknown';
    END IF;
    IF EXISTS (SELECT FROM legal_hold WHERE subject_id = p_subject AND lifted_at IS NULL) THEN
        RETURN 'exists';
    END IF;
    PERFORM demand_one(p_evidence, 'subject.hold_set', p_subject);
    PERFORM write_evidence(p_evidence);
    INSERT INTO legal_hold (evidence_id, subject_id) VALUES ((p_evidence -> 0 ->> 'id')::uuid, p_subject);
    RETURN 'set';
END $$;

-- 'lifted', 'none' (none stands) or 'unknown'.
CREATE FUNCTION lift_legal_hold(p_subject uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND erased_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'unknown';
    END IF;
    UPDATE legal_hold SET lifted_at = clock_timestamp(), lifted_evidence_id = (p_evidence -> 0 ->> 'id')::uuid
     WHERE subject_id = p_subject AND lifted_at IS NULL;
    IF NOT FOUND THEN
        RETURN 'none';
    END IF;
    PERFORM demand_one(p_evidence, 'subject.hold_lifted', p_subject);
    PERFORM write_evidence(p_evidence);
    RETURN 'lifted';
END $$;

-- One record and no more, whose leaf says what its columns say and that it is about no action or credential:
-- the data-protection role may tell of nothing else.
CREATE FUNCTION demand_one(entries jsonb, p_kind text, p_subject uuid) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_evidence(entries, p_kind, p_subject);
    IF (jsonb_array_length(entries) = 1 AND is_plain_entry(entries -> 0)
        AND entries -> 0 ->> 'body_subject_id' IS NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
END $$;

-- Erases a customer. 'erased', or why not: 'unknown', 'legal_hold', 'action_open' (open, held or under way to
-- core banking), 'retention' (its newest record is younger than p_retention_days), or 'lost_race': something of
-- it has changed since p_version and p_service_records were read.
-- p_evidence is one record subject.erased of the service itself; its leaf's outcome names the subject, so that
-- whoever has the log alone knows whose bodies are gone.
CREATE FUNCTION erase_customer(p_subject uuid, p_version bigint, p_retention_days int, p_service_records uuid[],
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_customer customer;
    at timestamptz;
    actions uuid[];
    acts uuid[];
BEGIN
    IF (p_retention_days >= evidence_retention_min()) IS NOT TRUE THEN
        RAISE EXCEPTION 'evidence is kept for longer' USING ERRCODE = 'CS001';
    END IF;
    SELECT * INTO the_customer FROM customer WHERE subject_id = p_subject FOR UPDATE;
    at := clock_timestamp();
    IF the_customer.subject_id IS NULL OR the_customer.erased_at IS NOT NULL THEN
        RETURN 'unknown';
    END IF;
    PERFORM 1 FROM execution_order o WHERE EXISTS (SELECT FROM action a
        WHERE a.id = o.action_id AND a.subject_id = p_subject) ORDER BY o.action_id FOR UPDATE;
    SELECT coalesce(array_agg(x.id), '{}') INTO actions
      FROM (SELECT id FROM action WHERE subject_id = p_subject ORDER BY id FOR UPDATE) x;
    -- Whoever signs or withdraws an act holds it: what is told of it is told before this, or never.
    SELECT coalesce(array_agg(x.id), '{}') INTO acts
      FROM (SELECT id FROM act WHERE action_id = ANY (actions) ORDER BY id FOR UPDATE) x;
    IF EXISTS (SELECT FROM legal_hold WHERE subject_id = p_subject AND lifted_at IS NULL) THEN
        RETURN 'legal_hold';
    END IF;
    IF EXISTS (SELECT FROM action WHERE id = ANY (actions)
                  AND ("authorization" = 'pending' OR execution IN ('held', 'ready', 'unknown')))
        OR EXISTS (SELECT FROM execution_order WHERE action_id = ANY (actions) AND settled_at IS NULL) THEN
        RETURN 'action_open';
    END IF;
    IF newest_record_of(p_subject) > at - make_interval(days => p_retention_days) THEN
        RETURN 'retention';
    END IF;
    IF the_customer.version <> p_version OR service_records_of(p_subject) IS DISTINCT FROM p_service_records THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_one(p_evidence, 'subject.erased', '00000000-0000-0000-0000-000000000000');
    IF convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome'
        IS DISTINCT FROM p_subject::text THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    PERFORM write_evidence(p_evidence);
    INSERT INTO erasure (subject_id, evidence_id, service_records)
    VALUES (p_subject, (p_evidence -> 0 ->> 'id')::uuid, p_service_records);

    DELETE FROM evidence_body WHERE subject_id = p_subject OR evidence_id = ANY (p_service_records);
    UPDATE subject_key SET wrapped = NULL WHERE subject_id = p_subject;
    PERFORM erase_actions(p_subject, actions, acts, at);
    PERFORM erase_credentials(p_subject, at);
    -- What was answered in the last seven days, as long as that can be repeated.
    DELETE FROM idempotency i WHERE EXISTS (SELECT FROM unnest(actions) AS x (id)
         WHERE position(convert_to(x.id::text, 'UTF8') IN i.answer) > 0);
    UPDATE customer SET customer_id = NULL, erased_at = at, version = version + 1, failures = 0,
           locked_until = NULL, contact_hold_until = NULL, recovered_at = NULL
     WHERE subject_id = p_subject;
    RETURN 'erased';
END $$;

-- What was asked and answered: only times, states and random IDs stay.
CREATE FUNCTION erase_actions(p_subject uuid, p_actions uuid[], p_acts uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE act SET document = NULL, erased_at = p_at WHERE id = ANY (p_acts);
    UPDATE execution_order SET message = NULL, signature = NULL, client_data_json = NULL,
           authenticator_data = NULL, erased_at = p_at WHERE action_id = ANY (p_actions);
    DELETE FROM contradiction WHERE action_id = ANY (p_actions);
    UPDATE receipt SET reference = NULL, reason = NULL, raw = NULL, erased_at = p_at
     WHERE action_id = ANY (p_actions);
    DELETE FROM policy_decision WHERE action_id = ANY (p_actions);
    DELETE FROM customer_limit WHERE subject_id = p_subject;
    DELETE FROM reservation WHERE subject_id = p_subject OR action_id = ANY (p_actions);
    DELETE FROM counter WHERE subject_id = p_subject;
    DELETE FROM payee WHERE subject_id = p_subject;
    UPDATE challenge SET nonce = NULL, approve_message = NULL, reject_message = NULL, erased_at = p_at
     WHERE action_id = ANY (p_actions);
    UPDATE event SET document = '{}' WHERE subject_id = p_subject;
    UPDATE action SET external_id = NULL, amount = NULL, amount_minor = NULL, currency = NULL,
           debtor_account = NULL, payee_name = NULL, payee_account = NULL, payee_alias = NULL, reference = NULL,
           end_to_end_id = NULL, channel = NULL, old_value_digest = NULL, new_value = NULL, limit_name = NULL,
           limit_before = NULL, risk = NULL, erased_at = p_at
     WHERE id = ANY (p_actions);
END $$;

-- Keys end with their customer. Public keys and credential IDs stay, which say nobody's name: each is unique for
-- ever, so that no other customer can be given one of them.
CREATE FUNCTION erase_credentials(p_subject uuid, p_at timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    DELETE FROM enrolment_authorization a USING enrolment e
     WHERE e.id = a.enrolment_id AND e.subject_id = p_subject;
    DELETE FROM enrolment WHERE subject_id = p_subject;
    DELETE FROM credential_attestation t USING credential c WHERE c.id = t.credential_id AND c.subject_id = p_subject;
    DELETE FROM device_request r USING credential c WHERE c.id = r.credential_id AND c.subject_id = p_subject;
    UPDATE credential SET label = NULL, platform = NULL, user_handle = NULL, transports = '{}', attestation = '{}',
           revoked_at = coalesce(revoked_at, p_at), status = 'revoked'
     WHERE subject_id = p_subject;
END $$;
RESET ROLE;

-- The eraser: nobody logs in as it, and only these functions are its own.
GRANT USAGE ON SCHEMA countersign TO countersign_eraser, countersign_privacy;
GRANT SELECT ON ALL TABLES IN SCHEMA countersign TO countersign_eraser;
GRANT SELECT ON countersign.erasure, countersign.legal_hold
    TO countersign_definer, countersign_service, countersign_auditor, countersign_operator;
GRANT INSERT (id, kind, action_id, subject_id, credential_id, leaf, body_commit) ON countersign.evidence
    TO countersign_eraser;
GRANT INSERT (subject_id, evidence_id, service_records) ON countersign.erasure TO countersign_eraser;
GRANT INSERT (evidence_id, subject_id), UPDATE (lifted_at, lifted_evidence_id) ON countersign.legal_hold
    TO countersign_eraser;
GRANT INSERT ON countersign.evidence_body TO countersign_eraser;
GRANT DELETE ON countersign.evidence_body, countersign.contradiction, countersign.policy_decision,
    countersign.customer_limit, countersign.reservation, countersign.counter, countersign.payee,
    countersign.enrolment_authorization, countersign.enrolment, countersign.credential_attestation,
    countersign.device_request, countersign.idempotency TO countersign_eraser;
GRANT UPDATE (wrapped) ON countersign.subject_key TO countersign_eraser;
GRANT UPDATE (document, erased_at) ON countersign.act TO countersign_eraser;
GRANT UPDATE (message, signature, client_data_json, authenticator_data, erased_at) ON countersign.execution_order
    TO countersign_eraser;
GRANT UPDATE (reference, reason, raw, erased_at) ON countersign.receipt TO countersign_eraser;
GRANT UPDATE (nonce, approve_message, reject_message, erased_at) ON countersign.challenge TO countersign_eraser;
GRANT UPDATE (document) ON countersign.event TO countersign_eraser;
GRANT UPDATE (external_id, amount, amount_minor, currency, debtor_account, payee_name, payee_account, payee_alias,
    reference, end_to_end_id, channel, old_value_digest, new_value, limit_name, limit_before, risk, erased_at)
    ON countersign.action TO countersign_eraser;
GRANT UPDATE (label, platform, user_handle, transports, attestation, revoked_at, status) ON countersign.credential
    TO countersign_eraser;
GRANT UPDATE (customer_id, erased_at, version, failures, locked_until, contact_hold_until, recovered_at)
    ON countersign.customer TO countersign_eraser;
GRANT EXECUTE ON FUNCTION countersign.is_erasing, countersign.is_erasing_body
    TO countersign_eraser, countersign_definer, countersign_service, countersign_operator, countersign_auditor;
GRANT EXECUTE ON FUNCTION countersign.forbid_change, countersign.guard_legal_hold, countersign.guard_credential,
    countersign.write_evidence, countersign.demand_evidence, countersign.is_plain_entry, countersign.demand_one,
    countersign.is_development, countersign.evidence_retention_min, countersign.service_records_of,
    countersign.newest_record_of, countersign.erase_actions, countersign.erase_credentials TO countersign_eraser;
GRANT EXECUTE ON FUNCTION countersign.service_records_of, countersign.newest_record_of TO countersign_service;
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('set_legal_hold', 'lift_legal_hold', 'erase_customer') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_eraser', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_privacy', f.name);
    END LOOP;
END $$;
