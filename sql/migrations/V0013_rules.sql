-- The rules that a risk team tunes: what they look at, what they count, and what they leave behind.
-- Deployment: action, decision and reservation get columns with constant defaults; the CHECKs read the table
-- action once, and reservations are filled in once, under an exclusive lock.

-- The functions below that write run as the definer, who owns them; the owner replaces them.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('approve_action', 'refuse_action', 'release_action', 'settle_order') LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_owner', f.name);
    END LOOP;
END $$;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Whether a policy can count its days by this zone: UTC, or a place in the IANA database.
CREATE FUNCTION time_zone_is_known(p_zone text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN p_zone = 'UTC' OR EXISTS (
        SELECT FROM pg_timezone_names WHERE name = p_zone AND name LIKE '%/%'
           AND name NOT LIKE 'posix/%' AND name NOT LIKE 'right/%');
END $$;

-- Copies of what a load must know of the document before it can read it.
ALTER TABLE policy ADD COLUMN velocity_window_s int,
    ADD COLUMN daily_window text NOT NULL DEFAULT 'calendar';

-- A zone that the database does not know would stop every decision; one that means something else on
-- every machine, as localtime, would count another day on the next one.
CREATE FUNCTION guard_policy() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    document jsonb := convert_from(new.document, 'UTF8');
BEGIN
    IF new.time_zone IS DISTINCT FROM document ->> 'time_zone'
        OR NOT time_zone_is_known(new.time_zone) THEN
        RAISE EXCEPTION 'not a time zone that a policy can have' USING ERRCODE = 'CS008';
    END IF;
    new.velocity_window_s := document #>> '{velocity,window_s}';
    new.daily_window := coalesce(document ->> 'daily_window', 'calendar');
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE INSERT ON policy FOR EACH ROW EXECUTE FUNCTION guard_policy();
ALTER TABLE policy ENABLE ALWAYS TRIGGER guard;

ALTER TABLE customer ADD COLUMN recovered_at timestamptz;

ALTER TABLE action
    ADD COLUMN limit_name text,
    -- What a held action comes to when nobody has answered it.
    ADD COLUMN hold_end text CONSTRAINT action_hold_end CHECK (hold_end IN ('release', 'cancel')),
    -- Approved as a transfer to an account that was no payee.
    ADD COLUMN payee_unknown boolean,
    -- What an own limit was, in minor units, when its change was approved.
    ADD COLUMN limit_before bigint,
    DROP CONSTRAINT action_kind,
    ADD CONSTRAINT action_kind
        CHECK (kind IN ('transfer', 'new_payee', 'contact_change', 'limit_change')),
    DROP CONSTRAINT action_members,
    ADD CONSTRAINT action_members CHECK (CASE kind
        WHEN 'transfer' THEN num_nulls(amount, amount_minor, currency, debtor_account, payee_name,
                                       payee_account, reference, end_to_end_id) = 0
                         AND num_nonnulls(payee_alias, channel, old_value_digest, new_value,
                                          limit_name) = 0
                         AND amount_minor > 0
        WHEN 'new_payee' THEN num_nulls(payee_name, payee_account, payee_alias) = 0
                          AND num_nonnulls(amount, amount_minor, currency, debtor_account, reference,
                                           end_to_end_id, channel, old_value_digest, new_value,
                                           limit_name) = 0
        WHEN 'limit_change' THEN num_nulls(limit_name, amount, amount_minor, currency) = 0
                         AND limit_name IN ('single_max', 'daily_max') AND amount_minor >= 0
                         AND num_nonnulls(debtor_account, payee_name, payee_account, payee_alias,
                                          reference, end_to_end_id, channel, old_value_digest,
                                          new_value) = 0
        ELSE num_nulls(channel, old_value_digest, new_value) = 0
             AND channel IN ('phone', 'email')
             AND num_nonnulls(amount, amount_minor, currency, debtor_account, payee_name,
                              payee_account, payee_alias, reference, end_to_end_id,
                              limit_name) = 0
        END);
ALTER TABLE decision ADD COLUMN hold_end text;

-- What is counted over the time before a decision is counted here, since no counter has such a window.
ALTER TABLE reservation ADD COLUMN subject_id uuid, ADD COLUMN reserved_at timestamptz;
UPDATE reservation r SET subject_id = a.subject_id, reserved_at = d.decided_at
  FROM action a JOIN decision d ON d.action_id = a.id WHERE a.id = r.action_id;
ALTER TABLE reservation ALTER COLUMN subject_id SET NOT NULL, ALTER COLUMN reserved_at SET NOT NULL,
    ADD CONSTRAINT reservation_of_customer FOREIGN KEY (subject_id) REFERENCES customer (subject_id);
CREATE INDEX reservation_by_time ON reservation (subject_id, reserved_at) WHERE returned_at IS NULL;

-- The limits that customers have set themselves.
CREATE TABLE customer_limit (
    subject_id      uuid NOT NULL REFERENCES customer (subject_id),
    limit_name      text NOT NULL CONSTRAINT customer_limit_name
                    CHECK (limit_name IN ('single_max', 'daily_max')),
    currency        text NOT NULL,
    amount_minor    bigint NOT NULL CONSTRAINT customer_limit_not_negative CHECK (amount_minor >= 0),
    -- What it was before that action, the newest that has set it.
    previous_minor  bigint NOT NULL,
    action_id       uuid NOT NULL REFERENCES action (id),
    PRIMARY KEY (subject_id, limit_name, currency)
);
CREATE INDEX customer_limit_by_action ON customer_limit (action_id);

-- What each decision of the policy looked at, and what it came to: what a dry run decides again. The
-- same is in the evidence, encrypted; here is nothing that names a person or an account.
CREATE TABLE policy_decision (
    evidence_id    uuid PRIMARY KEY,
    action_id      uuid NOT NULL REFERENCES action (id),
    policy_version int NOT NULL REFERENCES policy (version),
    decided_at     timestamptz NOT NULL,
    inputs         bytea NOT NULL,
    -- 'approved', or the rule that refused.
    outcome        text NOT NULL,
    hold_until     timestamptz,
    hold_rule      text
);
CREATE INDEX policy_decision_by_time ON policy_decision (decided_at);
CREATE TRIGGER no_change BEFORE UPDATE ON policy_decision
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
ALTER TABLE policy_decision ENABLE ALWAYS TRIGGER no_change;

-- What a policy looks at beside the action and the credential. One row for a known customer.
-- STABLE, and without a setting of its own, so that it becomes part of the query that calls it and sees
-- what that query sees.
CREATE FUNCTION policy_state(p_subject uuid, p_account text, p_currency text, p_at timestamptz,
    p_bank_day date, p_velocity_window_s int, p_daily_window text)
RETURNS TABLE (payee_id uuid, payee_confirmed_at timestamptz, payee_usable_at timestamptz,
    payee_new_until timestamptz, payee_first_executed_at timestamptz, used_today bigint,
    used_last_24h bigint, used_while_new bigint, transfers_in_window bigint,
    new_payees_today bigint, own_single_max bigint, own_daily_max bigint)
LANGUAGE sql STABLE AS $$
    SELECT p.id, p.confirmed_at, p.usable_at, p.new_until, p.first_executed_at,
           coalesce((SELECT used FROM countersign.counter WHERE subject_id = p_subject
                       AND dimension = 'day:' || p_currency AND window_start = p_bank_day), 0),
           CASE WHEN p_daily_window = 'rolling_24h' THEN
               (SELECT coalesce(sum(r.amount), 0)::bigint FROM countersign.reservation r
                 WHERE r.subject_id = p_subject AND r.returned_at IS NULL
                   AND r.reserved_at > p_at - interval '24 hours'
                   AND r.dimension = 'day:' || p_currency)
           ELSE 0 END,
           -- What went to the account before it was a payee counts for the payee too.
           coalesce((SELECT sum(used)::bigint FROM countersign.counter WHERE subject_id = p_subject
                       AND dimension IN ('new_payee:' || p.id || ':' || p_currency,
                                         'new_payee:' || p_account || ':' || p_currency)
                       AND window_start = '1970-01-01'), 0),
           CASE WHEN p_velocity_window_s IS NOT NULL THEN
               (SELECT count(*) FROM countersign.reservation r
                 WHERE r.subject_id = p_subject AND r.returned_at IS NULL
                   AND r.reserved_at > p_at - make_interval(secs => p_velocity_window_s)
                   AND r.dimension LIKE 'day:%')
           ELSE 0 END,
           coalesce((SELECT used FROM countersign.counter WHERE subject_id = p_subject
                       AND dimension = 'new_payees' AND window_start = p_bank_day), 0),
           (SELECT amount_minor FROM countersign.customer_limit WHERE subject_id = p_subject
               AND limit_name = 'single_max' AND currency = p_currency),
           (SELECT amount_minor FROM countersign.customer_limit WHERE subject_id = p_subject
               AND limit_name = 'daily_max' AND currency = p_currency)
      FROM (SELECT 1) one
      LEFT JOIN countersign.payee p ON p.subject_id = p_subject AND p.account = p_account
           AND p.status = 'active'
$$;

-- Whether what an approval adds would pass a cap on the time before it. The caller holds the customer's
-- row, without which nothing is reserved.
CREATE FUNCTION ceiling_is_passed(p_subject uuid, p_ceilings jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    IF p_ceilings IS NULL THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        SELECT FROM jsonb_to_recordset(p_ceilings)
               AS c (dimensions text, measure text, window_s int, added bigint, cap bigint)
         WHERE c.added > c.cap - (
               SELECT CASE c.measure WHEN 'count' THEN count(*) ELSE coalesce(sum(r.amount), 0) END
                 FROM reservation r
                WHERE r.subject_id = p_subject AND r.returned_at IS NULL
                  AND r.reserved_at > clock_timestamp() - make_interval(secs => c.window_s)
                  AND r.dimension LIKE c.dimensions));
END $$;

-- Sets the limit that an action changes. p_before is what it was by the policy, for the first change.
CREATE FUNCTION set_limit(p_action uuid, p_before bigint) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    INSERT INTO customer_limit AS l (subject_id, limit_name, currency, amount_minor, previous_minor,
           action_id)
    SELECT a.subject_id, a.limit_name, a.currency, a.amount_minor, p_before, a.id
      FROM action a WHERE a.id = p_action
    ON CONFLICT (subject_id, limit_name, currency) DO UPDATE SET
        amount_minor = excluded.amount_minor, previous_minor = l.amount_minor,
        action_id = excluded.action_id;
$$;

-- Takes a raise back that this action has made; what it has lowered stays: stricter needs no return.
CREATE FUNCTION withdraw_limit(p_action uuid) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    UPDATE customer_limit SET amount_minor = least(amount_minor, previous_minor)
     WHERE action_id = p_action;
$$;

-- Keeps what a decision looked at beside the evidence of it, the first of the entries.
CREATE FUNCTION note_policy_decision(p_action uuid, p_decided_at timestamptz, p_policy_version int,
    p_inputs bytea, p_outcome text, p_evidence jsonb) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    INSERT INTO policy_decision (evidence_id, action_id, policy_version, decided_at, inputs, outcome,
           hold_until, hold_rule)
    SELECT (p_evidence -> 0 ->> 'id')::uuid, a.id, p_policy_version, p_decided_at, p_inputs,
           p_outcome, a.hold_until, a.hold_rule
      FROM action a WHERE a.id = p_action;
$$;

-- As in V0003, with the limit that a customer sets.
CREATE OR REPLACE FUNCTION guard_action() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    entry record;
BEGIN
    IF (new.id, new.subject_id, new.client_id, new.external_id, new.kind, new.amount,
        new.amount_minor, new.currency, new.debtor_account, new.payee_name, new.payee_account,
        new.payee_alias, new.reference, new.end_to_end_id, new.channel, new.old_value_digest,
        new.new_value, new.limit_name, new.risk, new.policy_version, new.created_at, new.expires_at)
       IS DISTINCT FROM
       (old.id, old.subject_id, old.client_id, old.external_id, old.kind, old.amount,
        old.amount_minor, old.currency, old.debtor_account, old.payee_name, old.payee_account,
        old.payee_alias, old.reference, old.end_to_end_id, old.channel, old.old_value_digest,
        old.new_value, old.limit_name, old.risk, old.policy_version, old.created_at, old.expires_at) THEN
        RAISE EXCEPTION 'the content of an action is immutable' USING ERRCODE = 'CS003';
    END IF;
    IF new."authorization" <> old."authorization" AND old."authorization" <> 'pending' THEN
        RAISE EXCEPTION 'authorization is final' USING ERRCODE = 'CS004';
    END IF;
    IF new.execution <> old.execution AND (old.execution, new.execution) NOT IN (
        ('none', 'held'), ('none', 'ready'), ('held', 'ready'), ('held', 'cancelled'),
        ('ready', 'cancelled'), ('ready', 'executed'), ('ready', 'refused'), ('ready', 'unknown'),
        ('unknown', 'executed'), ('unknown', 'refused')) THEN
        RAISE EXCEPTION 'illegal execution transition' USING ERRCODE = 'CS004';
    END IF;
    IF new."authorization" <> old."authorization" OR new.execution <> old.execution THEN
        SELECT e.action_id, e.xid, e.leaf_hash INTO entry
          FROM evidence e WHERE e.id = new.last_evidence_id;
        IF entry.action_id IS DISTINCT FROM new.id OR entry.xid <> pg_current_xact_id()
            OR entry.leaf_hash <> new.head OR new.seq <= old.seq THEN
            RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
        END IF;
    END IF;
    RETURN new;
END $$;

-- As in V0004, with limit_change.
CREATE OR REPLACE FUNCTION message_matches(a action, message bytea, decision text, customer text,
    challenge uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    m jsonb := convert_from(message, 'UTF8')::jsonb;
    common jsonb := jsonb_build_object('action_id', a.id, 'challenge_id', challenge,
        'customer_id', customer, 'decision', decision, 'kind', a.kind, 'version', 'countersign/1');
BEGIN
    RETURN (m - 'audience' - 'nonce' - 'expires_at') = common || CASE a.kind
        WHEN 'transfer' THEN jsonb_build_object('amount', a.amount, 'currency', a.currency,
            'debtor_account', a.debtor_account, 'payee_name', a.payee_name,
            'payee_account', a.payee_account, 'reference', a.reference,
            'end_to_end_id', a.end_to_end_id)
        WHEN 'new_payee' THEN jsonb_build_object('payee_name', a.payee_name,
            'payee_account', a.payee_account, 'payee_alias', a.payee_alias)
        WHEN 'limit_change' THEN jsonb_build_object('limit_name', a.limit_name,
            'amount', a.amount, 'currency', a.currency)
        ELSE jsonb_build_object('channel', a.channel, 'old_value_digest', a.old_value_digest,
            'new_value', a.new_value)
        END;
END $$;

-- As in V0009, with what a hold comes to, caps on the time before, own limits and what was looked at.
-- p_ceilings: NULL, or the caps on the time before, as ceiling_is_passed reads them.
-- p_limit_before: what an own limit was; it is set at once when nothing holds.
DROP FUNCTION approve_action;
CREATE FUNCTION approve_action(p_subject uuid, p_version bigint, p_policy_version int,
    p_action uuid, p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int,
    p_decided_at timestamptz, p_message bytea, p_signature bytea, p_client_data_json bytea,
    p_authenticator_data bytea, p_assertion_digest bytea, p_sign_count bigint,
    p_backup_state boolean, p_bank_day date, p_hold_until timestamptz, p_hold_rule text,
    p_hold_end text, p_dimensions text[], p_windows date[], p_amounts bigint[], p_caps bigint[], p_ceilings jsonb,
    p_payee jsonb, p_payee_unknown boolean, p_contact_hold_until timestamptz,
    p_limit_before bigint, p_inputs bytea, p_evidence jsonb) RETURNS text
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
                    WHERE r.amount > r.cap - coalesce(c.used, 0))
        OR ceiling_is_passed(p_subject, p_ceilings) THEN
        RETURN 'lost_race';
    END IF;

    PERFORM write_evidence(p_evidence);
    entry := action_head_of(p_evidence, p_action);
    UPDATE action SET "authorization" = 'approved', execution = new_execution,
           hold_until = p_hold_until, hold_rule = p_hold_rule, hold_end = p_hold_end,
           payee_unknown = p_payee_unknown, limit_before = p_limit_before, seq = seq + entry.added, head = entry.head, last_evidence_id = entry.last_id
     WHERE id = p_action;
    UPDATE challenge SET state = 'consumed' WHERE id = p_challenge;
    PERFORM note_proof(p_credential, p_sign_count, p_backup_state, p_evidence);
    INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest,
           assertion_digest, execution, hold_until, hold_rule, hold_end,
           evidence_id, leaf_hash, decided_at)
    SELECT p_action, 'approved', p_challenge, p_credential, sha256(p_message), p_assertion_digest,
           new_execution, p_hold_until, p_hold_rule, p_hold_end, e.id, e.leaf_hash, p_decided_at
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
    INSERT INTO reservation (action_id, subject_id, reserved_at, dimension, window_start, amount)
    SELECT p_action, p_subject, p_decided_at, r.dimension, r.window_start, r.amount
      FROM unnest(p_dimensions, p_windows, p_amounts) AS r (dimension, window_start, amount);
    IF p_payee IS NOT NULL THEN
        PERFORM confirm_payee(p_subject, p_action, p_decided_at, p_payee);
    END IF;
    IF p_limit_before IS NOT NULL AND p_hold_until IS NULL THEN
        PERFORM set_limit(p_action, p_limit_before);
    END IF;
    PERFORM note_policy_decision(p_action, p_decided_at, p_policy_version, p_inputs, 'approved',
        p_evidence);
    UPDATE customer SET version = version + 1, failures = 0,
           contact_hold_until = greatest(contact_hold_until, p_contact_hold_until)
     WHERE subject_id = p_subject;
    RETURN 'approved';
END $$;

-- As in V0009, with what was looked at.
DROP FUNCTION refuse_action;
CREATE FUNCTION refuse_action(p_subject uuid, p_version bigint,
    p_policy_version int, p_action uuid, p_seq int, p_challenge uuid, p_credential uuid,
    p_credential_seq int, p_decided_at timestamptz, p_message bytea, p_sign_count bigint, p_backup_state boolean,
    p_inputs bytea, p_evidence jsonb) RETURNS text
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
    PERFORM note_policy_decision(p_action, p_decided_at, p_policy_version, p_inputs,
        convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome',
        p_evidence);
    UPDATE customer SET failures = 0 WHERE subject_id = p_subject;
    RETURN 'refused';
END $$;

-- As in V0004, with own limits.
CREATE OR REPLACE FUNCTION cancel_execution(p_subject uuid, p_action uuid, p_evidence jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE execution_order SET settled_at = clock_timestamp()
     WHERE action_id = p_action AND attempt = 0 AND settled_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM advance_action(p_action, p_evidence, NULL, 'cancelled');
    PERFORM return_reservations(p_subject, p_action);
    PERFORM withdraw_payee(p_action);
    PERFORM withdraw_limit(p_action);
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN true;
END $$;

-- Ends a hold with a release: it may be executed, and a limit that it raises holds. The caller holds the
-- rows of customer, order and action, and has written the evidence.
CREATE FUNCTION release_execution(p_subject uuid, p_action uuid, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM advance_action(p_action, p_evidence, NULL, 'ready');
    IF EXISTS (SELECT FROM action WHERE id = p_action AND kind = 'limit_change') THEN
        -- What the limit was is told by the approval, whose decision it was.
        PERFORM set_limit(p_action, (SELECT limit_before FROM action WHERE id = p_action));
        UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    END IF;
END $$;

-- As in V0004, with release_execution.
CREATE OR REPLACE FUNCTION release_action(p_subject uuid, p_version bigint, p_action uuid, p_seq int,
    p_cancel boolean, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM execution_order WHERE action_id = p_action FOR UPDATE;
    PERFORM 1 FROM action WHERE id = p_action AND seq = p_seq AND execution = 'held'
        AND hold_until <= clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    IF p_cancel THEN
        PERFORM cancel_execution(p_subject, p_action, p_evidence);
        RETURN 'cancelled';
    END IF;
    PERFORM release_execution(p_subject, p_action, p_evidence);
    RETURN 'released';
END $$;

-- As in V0006, with own limits: a raise that core banking refuses does not hold.
CREATE OR REPLACE FUNCTION settle_order(p_subject uuid, p_action uuid, p_seq int, p_token uuid,
    p_status text, p_reference text, p_reason text, p_raw bytea, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_action action;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = p_action AND lease_token = p_token
        AND settled_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_lease';
    END IF;
    SELECT * INTO the_action FROM action WHERE id = p_action AND seq = p_seq
        AND execution IN ('ready', 'unknown') FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, NULL, p_status);
    UPDATE execution_order SET settled_at = clock_timestamp(), lease_token = NULL, lease_until = NULL
     WHERE action_id = p_action;
    INSERT INTO receipt (action_id, status, reference, reason, raw, evidence_id, received_at)
    VALUES (p_action, p_status, p_reference, p_reason, p_raw, (p_evidence -> 0 ->> 'id')::uuid,
            clock_timestamp());
    IF p_status = 'refused' THEN
        PERFORM return_reservations(p_subject, p_action);
        PERFORM withdraw_payee(p_action);
        PERFORM withdraw_limit(p_action);
    ELSIF the_action.kind = 'transfer' THEN
        UPDATE payee SET first_executed_at = coalesce(first_executed_at, clock_timestamp())
         WHERE subject_id = p_subject AND account = the_action.payee_account;
    END IF;
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'settled';
END $$;

GRANT SELECT, INSERT ON customer_limit, policy_decision TO countersign_definer;
GRANT UPDATE (amount_minor, previous_minor, action_id) ON customer_limit TO countersign_definer;
GRANT UPDATE (hold_end, payee_unknown, limit_before) ON action TO countersign_definer;
GRANT UPDATE (recovered_at) ON customer TO countersign_definer;
GRANT SELECT ON customer_limit, policy_decision TO countersign_service;
GRANT EXECUTE ON FUNCTION ceiling_is_passed, set_limit, withdraw_limit, note_policy_decision,
    release_execution TO countersign_definer;
GRANT EXECUTE ON FUNCTION time_zone_is_known TO countersign_definer;
GRANT EXECUTE ON FUNCTION policy_state, time_zone_is_known TO countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('approve_action', 'refuse_action', 'release_action', 'settle_order') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
