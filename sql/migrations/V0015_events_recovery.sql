-- Payees that are removed, customers who recovered, orders that core banking fetches itself, and the feed
-- of what the bank must tell its customers.
-- Deployment: new tables, and columns without a default: nothing is rewritten. The triggers lock action,
-- credential, customer, payee and evidence for a moment; the CHECK reads the table credential once.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- When the customer was last recovered; a policy looks at it.
-- Set for a key that was good until its customer was recovered, when what it had approved was kept: its
-- end then stops no release.
ALTER TABLE credential ADD COLUMN approvals_kept_at timestamptz CONSTRAINT credential_approvals_kept
    CHECK (approvals_kept_at IS NULL OR status = 'revoked');

-- As in V0004, but that a payee confirmed after its removal also gets another ID: what was counted while
-- it was new is counted by the ID, and must not use up what may be sent in its new life.
CREATE OR REPLACE FUNCTION confirm_payee(p_subject uuid, p_action uuid, p_at timestamptz,
    p_payee jsonb) RETURNS void LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    INSERT INTO payee AS p (id, subject_id, account, name, alias, action_id, confirmed_at, usable_at,
           new_until)
    SELECT (p_payee ->> 'id')::uuid, p_subject, a.payee_account, a.payee_name, a.payee_alias, a.id,
           p_at, (p_payee ->> 'usable_at')::timestamptz, (p_payee ->> 'new_until')::timestamptz
      FROM action a WHERE a.id = p_action
    ON CONFLICT (subject_id, account) DO UPDATE SET
        name = excluded.name, alias = excluded.alias, status = 'active',
        id = CASE p.status WHEN 'active' THEN p.id ELSE excluded.id END,
        action_id = CASE p.status WHEN 'active' THEN p.action_id ELSE excluded.action_id END,
        confirmed_at = CASE p.status WHEN 'active' THEN p.confirmed_at ELSE excluded.confirmed_at END,
        usable_at = CASE p.status WHEN 'active' THEN p.usable_at ELSE excluded.usable_at END,
        new_until = CASE p.status WHEN 'active' THEN p.new_until ELSE excluded.new_until END,
        first_executed_at = CASE p.status WHEN 'active' THEN p.first_executed_at END;
$$;

-- 'removed' or 'lost_race'. Whoever decided before on a customer with this payee decides again. What is
-- held for it is cancelled at its release.
CREATE FUNCTION remove_payee(p_subject uuid, p_version bigint, p_payee uuid, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM payee WHERE id = p_payee AND subject_id = p_subject AND status = 'active'
        FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_evidence(p_evidence, 'payee.removed', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE payee SET status = 'removed' WHERE id = p_payee;
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'removed';
END $$;

-- Locks the orders and actions of approvals that are to be cancelled; false when one of them is not as it
-- was read, or was tried. The caller holds the customer's row.
CREATE FUNCTION lock_untried(p_subject uuid, p_actions uuid[], p_action_seqs int[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    -- Orders before actions, as everywhere. A claim that was quicker shows as an attempt.
    PERFORM 1 FROM execution_order WHERE action_id = ANY (p_actions) ORDER BY action_id FOR UPDATE;
    PERFORM 1 FROM action WHERE id = ANY (p_actions) ORDER BY id FOR UPDATE;
    RETURN (SELECT count(*) FROM unnest(p_actions, p_action_seqs) AS x (id, seq)
              JOIN action a ON a.id = x.id AND a.seq = x.seq AND a.subject_id = p_subject
                   AND a.execution IN ('held', 'ready')
              JOIN execution_order o ON o.action_id = a.id AND o.attempt = 0
                   AND o.settled_at IS NULL)
        = cardinality(p_actions);
END $$;

-- 'recovered', 'lost_race' or 'token_used'. Ends all keys of the customer, with all that was asked and
-- not answered. p_credentials are all that were not revoked as of p_version, p_actions all approvals that
-- were not tried; none of these with p_keeps, and then what the active keys approved stays approved.
-- p_sca_jti is NULL only in development.
CREATE FUNCTION recover_customer(p_subject uuid, p_version bigint, p_recovered_at timestamptz,
    p_sca_jti text, p_sca_expires_at timestamptz, p_keeps boolean, p_credentials uuid[],
    p_credential_seqs int[], p_actions uuid[], p_action_seqs int[], p_challenges uuid[],
    p_authorizations uuid[], p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    ended uuid;
    at timestamptz;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    at := clock_timestamp();
    -- IS NOT TRUE: a list that is missing makes a NULL here, and must not end less than all.
    IF NOT FOUND OR (p_recovered_at BETWEEN at - decision_age_max() AND at
            AND (p_sca_jti IS NULL OR p_sca_expires_at > at)
            AND p_challenges IS NOT NULL AND p_authorizations IS NOT NULL
            AND lock_untried(p_subject, p_actions, p_action_seqs)
            AND questions_are(p_subject, p_challenges, p_authorizations)) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM credential WHERE subject_id = p_subject AND status <> 'revoked'
        ORDER BY id FOR UPDATE;
    IF (SELECT count(*) = cardinality(p_credentials) AND count(*) = count(x.id)
          FROM credential c
          LEFT JOIN unnest(p_credentials, p_credential_seqs) AS x (id, seq)
               ON x.id = c.id AND x.seq = c.seq
         WHERE c.subject_id = p_subject AND c.status <> 'revoked') IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    -- Tokens are unique across customers: the last that can fail, as from here on the token is spent.
    IF p_sca_jti IS NOT NULL THEN
        INSERT INTO sca_token (jti) VALUES (p_sca_jti) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN 'token_used';
        END IF;
    END IF;
    PERFORM demand_evidence(p_evidence, 'recovery', p_subject);
    PERFORM write_evidence(p_evidence);
    FOREACH ended IN ARRAY p_credentials LOOP
        IF NOT tells_of(p_evidence, 'credential.revoked', ended) THEN
            RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
        END IF;
        UPDATE credential SET revoked_at = p_recovered_at,
               approvals_kept_at = CASE WHEN p_keeps AND status = 'active' THEN p_recovered_at END,
               status = 'revoked'
         WHERE id = ended;
        PERFORM advance_credential(ended, p_evidence);
    END LOOP;
    PERFORM void_questions(p_challenges, p_authorizations);
    UPDATE enrolment SET spent_at = at WHERE subject_id = p_subject AND spent_at IS NULL;
    FOREACH ended IN ARRAY p_actions LOOP
        IF NOT cancel_execution(p_subject, ended, p_evidence) THEN
            RAISE EXCEPTION 'an order changed under its lock' USING ERRCODE = 'CS006';
        END IF;
    END LOOP;
    UPDATE customer SET version = version + 1, recovered_at = p_recovered_at
     WHERE subject_id = p_subject;
    RETURN 'recovered';
END $$;

-- 'recorded': a recovery that nobody entitled asked for. It changes nothing of the customer.
CREATE FUNCTION record_refused_recovery(p_subject uuid, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM demand_evidence(p_evidence, 'attempt.failed', p_subject);
    PERFORM write_evidence(p_evidence);
    RETURN 'recorded';
END $$;

GRANT UPDATE (approvals_kept_at) ON credential TO countersign_definer;
GRANT EXECUTE ON FUNCTION lock_untried TO countersign_definer;

-- As in V0011, but that p_told says whether the same answer tells of new keys: then no order waits until
-- its key was announced.
DROP FUNCTION claim_orders(int, interval);
CREATE FUNCTION claim_orders(p_limit int, p_lease interval, p_told boolean) RETURNS TABLE (
    action_id uuid, lease_token uuid, attempt int, first_attempt_at timestamptz, execution text,
    customer_id text, decided_at timestamptz, evidence_id uuid, leaf_hash bytea, message bytea,
    signature bytea, client_data_json bytea, authenticator_data bytea, credential_id uuid, kind text,
    public_key bytea, signature_format text)
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    WITH due AS (
        SELECT o.action_id
          FROM execution_order o
          JOIN action a ON a.id = o.action_id
          JOIN decision d ON d.action_id = o.action_id
         WHERE o.settled_at IS NULL AND o.available_at <= clock_timestamp()
           AND (o.lease_until IS NULL OR o.lease_until < clock_timestamp())
           -- A held order becomes due only when its release is written, with its evidence.
           AND a.execution IN ('ready', 'unknown')
           -- Core banking should know the key first; but a key it takes no note of stops nothing.
           AND (p_told OR NOT EXISTS (
                   SELECT FROM credential_announcement n
                    WHERE n.credential_id = d.credential_id AND n.settled_at IS NULL
                      AND (n.attempt = 0 OR n.lease_until > clock_timestamp())))
         ORDER BY o.available_at LIMIT p_limit
           FOR UPDATE OF o SKIP LOCKED),
    claimed AS (
        UPDATE execution_order o
           SET attempt = o.attempt + 1, lease_token = gen_random_uuid(),
               lease_until = clock_timestamp() + p_lease,
               first_attempt_at = coalesce(o.first_attempt_at, clock_timestamp())
          FROM due WHERE o.action_id = due.action_id
        RETURNING o.*)
    SELECT o.action_id, o.lease_token, o.attempt, o.first_attempt_at, a.execution, c.customer_id,
           d.decided_at, d.evidence_id, d.leaf_hash, o.message, o.signature, o.client_data_json,
           o.authenticator_data, cr.id, cr.kind, cr.public_key, cr.signature_format
      FROM claimed o
      JOIN action a ON a.id = o.action_id
      JOIN customer c ON c.subject_id = a.subject_id
      JOIN decision d ON d.action_id = o.action_id
      JOIN credential cr ON cr.id = d.credential_id;
$$;

-- What core banking said of a settled order that is not what it said first. The receipt stays.
CREATE TABLE contradiction (
    action_id   uuid NOT NULL REFERENCES receipt (action_id),
    -- SHA-256 of status and reference or reason.
    said        bytea NOT NULL CONSTRAINT contradiction_said_size CHECK (octet_length(said) = 32),
    evidence_id uuid NOT NULL UNIQUE,
    CONSTRAINT contradiction_pkey PRIMARY KEY (action_id, said)
);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON contradiction
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON contradiction
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE contradiction ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- 'recorded', 'known' or 'lost_race'. The same contradiction again is no news, nor is an eleventh one:
-- an action's chain must not grow with every retry of a system that is broken.
CREATE FUNCTION record_contradiction(p_subject uuid, p_action uuid, p_seq int, p_status text,
    p_reference text, p_reason text, p_said bytea, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = p_action FOR UPDATE;
    PERFORM 1 FROM action WHERE id = p_action AND subject_id = p_subject AND seq = p_seq FOR UPDATE;
    IF NOT FOUND OR NOT EXISTS (SELECT FROM receipt r WHERE r.action_id = p_action
            AND (r.status, r.reference, r.reason)
                IS DISTINCT FROM (p_status, p_reference, p_reason)) THEN
        RETURN 'lost_race';
    END IF;
    IF EXISTS (SELECT FROM contradiction WHERE action_id = p_action AND said = p_said)
        OR (SELECT count(*) FROM contradiction WHERE action_id = p_action) >= 10 THEN
        RETURN 'known';
    END IF;
    PERFORM demand_evidence(p_evidence, 'order.contradicted', p_subject);
    PERFORM write_evidence(p_evidence);
    INSERT INTO contradiction (action_id, said, evidence_id)
    VALUES (p_action, p_said, (p_evidence -> 0 ->> 'id')::uuid);
    PERFORM advance_action(p_action, p_evidence, NULL, NULL);
    RETURN 'recorded';
END $$;
GRANT SELECT, INSERT ON contradiction TO countersign_definer;
GRANT SELECT ON contradiction TO countersign_service;

-- A UUIDv7 of now.
CREATE FUNCTION fresh_id() RETURNS uuid LANGUAGE sql VOLATILE SET search_path = countersign, pg_temp AS $$
    SELECT overlay(uuid7_floor(clock_timestamp())::text
                   PLACING '7' || substr(gen_random_uuid()::text, 16) FROM 15)::uuid
$$;

-- What the bank must tell its customer, in the transaction of what it tells. The customer's ID and a key's
-- label are joined when it is read, so that erasing them here erases them there.
CREATE TABLE event (
    -- In the order of writing, so of one customer in the order in which things happened: every writer
    -- holds the customer's row.
    number        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- The place in the feed, given to what is committed, in an order that never changes.
    position      bigint CONSTRAINT event_position_unique UNIQUE
                  CONSTRAINT event_position_positive CHECK (position > 0),
    id            uuid NOT NULL DEFAULT fresh_id() CONSTRAINT event_id_unique UNIQUE,
    kind          text NOT NULL CONSTRAINT event_kind CHECK (kind IN (
                      'credential.enrolled', 'credential.revoked', 'credential.suspended',
                      'payee.added', 'payee.removed', 'hold.placed', 'hold.ended', 'hold.cancelled',
                      'customer.locked', 'recovery', 'limit.refused')),
    subject_id    uuid NOT NULL,
    action_id     uuid,
    credential_id uuid,
    payee_id      uuid,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- json, not jsonb: the text is kept as it was made.
    document      json NOT NULL CONSTRAINT event_document CHECK (json_typeof(document) = 'object')
);
CREATE INDEX event_unplaced ON event (number) WHERE position IS NULL;

CREATE FUNCTION guard_event() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF old.position IS NOT NULL OR (to_jsonb(new) - 'position') <> (to_jsonb(old) - 'position') THEN
        RAISE EXCEPTION 'append-only: an event only gets its place' USING ERRCODE = 'CS001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON event FOR EACH ROW EXECUTE FUNCTION guard_event();
CREATE TRIGGER no_delete BEFORE DELETE ON event FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON event
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE event ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_delete,
    ENABLE ALWAYS TRIGGER no_truncate;

-- A time as the API writes it.
CREATE FUNCTION rfc3339(at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT replace(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '.000Z', 'Z')
$$;

-- Each change of a row that a customer is told of tells it, whichever function made the change.
CREATE FUNCTION tell_of_action() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO event (kind, subject_id, action_id, document)
    VALUES (CASE new.execution WHEN 'held' THEN 'hold.placed' WHEN 'cancelled' THEN 'hold.cancelled'
                ELSE 'hold.ended' END,
            new.subject_id, new.id,
            json_build_object('action_kind', new.kind, 'until', rfc3339(new.hold_until),
                'rule', new.hold_rule));
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER UPDATE OF execution ON action FOR EACH ROW
    WHEN (new.execution <> old.execution AND 'held' IN (new.execution, old.execution))
    EXECUTE FUNCTION tell_of_action();

CREATE FUNCTION tell_of_credential() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO event (kind, subject_id, credential_id, document)
    VALUES ('credential.' || CASE new.status WHEN 'active' THEN 'enrolled' ELSE new.status END,
            new.subject_id, new.id, json_build_object('credential_kind', new.kind));
    RETURN NULL;
END $$;
CREATE TRIGGER tell_of_first AFTER INSERT ON credential FOR EACH ROW
    EXECUTE FUNCTION tell_of_credential();
CREATE TRIGGER tell AFTER UPDATE OF status ON credential FOR EACH ROW
    WHEN (new.status <> old.status) EXECUTE FUNCTION tell_of_credential();

-- A payee that the bank itself brought in is no news to a customer.
CREATE FUNCTION tell_of_payee() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF new.status = 'active' AND new.action_id IS NOT NULL THEN
        INSERT INTO event (kind, subject_id, action_id, payee_id, document)
        VALUES ('payee.added', new.subject_id, new.action_id, new.id,
                json_build_object('usable_at', rfc3339(new.usable_at),
                    'new_until', rfc3339(new.new_until)));
    ELSIF new.status = 'removed' THEN
        INSERT INTO event (kind, subject_id, payee_id, document)
        VALUES ('payee.removed', new.subject_id, new.id, '{}');
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell_of_first AFTER INSERT ON payee FOR EACH ROW EXECUTE FUNCTION tell_of_payee();
CREATE TRIGGER tell AFTER UPDATE OF status ON payee FOR EACH ROW
    WHEN (new.status <> old.status) EXECUTE FUNCTION tell_of_payee();

CREATE FUNCTION tell_of_customer() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF new.locked_until IS DISTINCT FROM old.locked_until AND new.locked_until IS NOT NULL THEN
        INSERT INTO event (kind, subject_id, document)
        VALUES ('customer.locked', new.subject_id,
                json_build_object('until', rfc3339(new.locked_until)));
    END IF;
    IF new.recovered_at IS DISTINCT FROM old.recovered_at THEN
        INSERT INTO event (kind, subject_id, document)
        VALUES ('recovery', new.subject_id,
                json_build_object('recovered_at', rfc3339(new.recovered_at)));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER UPDATE OF locked_until, recovered_at ON customer FOR EACH ROW
    WHEN (new.locked_until IS DISTINCT FROM old.locked_until
          OR new.recovered_at IS DISTINCT FROM old.recovered_at)
    EXECUTE FUNCTION tell_of_customer();

-- A refusal changes no row, so it is told by its evidence. What a limit has no part in (the wrong kind of
-- key, an unknown payee) the caller was told, and the customer can do without.
CREATE FUNCTION tell_of_refusal() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    rule text := convert_from(new.leaf, 'UTF8')::jsonb ->> 'outcome';
BEGIN
    IF rule NOT IN ('risk_refused', 'credential_not_allowed', 'payee_unknown', 'payee_not_usable') THEN
        INSERT INTO event (kind, subject_id, action_id, document)
        VALUES ('limit.refused', new.subject_id, new.action_id, json_build_object('rule', rule));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tell AFTER INSERT ON evidence FOR EACH ROW WHEN (new.kind = 'action.refused')
    EXECUTE FUNCTION tell_of_refusal();

-- Gives at most p_max committed events their places, and tells how many. One at a time does it, and its
-- commit comes before the next one's look: so a place is never given below one that was seen, however
-- late a transaction with a lower number commits. Whoever finds it under way leaves it alone.
CREATE FUNCTION place_events(p_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    placed bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(7002, 2) THEN
        RETURN 0;
    END IF;
    -- A statement of its own after the lock: its snapshot holds what the last one placed.
    UPDATE event e SET position = n.position
      FROM (SELECT u.number, coalesce((SELECT max(position) FROM event), 0)
                   + row_number() OVER (ORDER BY u.number) AS position
              FROM (SELECT number FROM event WHERE position IS NULL
                     ORDER BY number LIMIT p_max) u) n
     WHERE e.number = n.number;
    GET DIAGNOSTICS placed = ROW_COUNT;
    RETURN placed;
END $$;

GRANT SELECT ON event TO countersign_definer, countersign_service;
GRANT INSERT (kind, subject_id, action_id, credential_id, payee_id, document) ON event
    TO countersign_definer;
GRANT UPDATE (position) ON event TO countersign_definer;
GRANT EXECUTE ON FUNCTION fresh_id, rfc3339 TO countersign_definer;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('remove_payee', 'recover_customer', 'record_refused_recovery',
                                  'place_events', 'claim_orders', 'record_contradiction') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
