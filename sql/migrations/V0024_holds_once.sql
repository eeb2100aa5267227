-- What a hostile reading found in holds, own limits and imports: a hold is decided once, a release is asked
-- again under its locks, and a raise that comes to nothing stops what was approved under it.
-- Deployment: payee gets a column without a default; no old data is rewritten but own limits, one row each.

-- The functions below that write run as the definer, who owns them; the owner replaces them.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('release_action', 'end_hold', 'import_payee') LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_owner', f.name);
    END LOOP;
END $$;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0013, and a hold is what was decided.
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
    -- How long it is held, and what that comes to, is decided once, with the approval.
    IF NOT (old."authorization" = 'pending' AND new."authorization" = 'approved')
        AND (new.hold_until, new.hold_rule, new.hold_end, new.payee_unknown, new.limit_before)
            IS DISTINCT FROM
            (old.hold_until, old.hold_rule, old.hold_end, old.payee_unknown, old.limit_before) THEN
        RAISE EXCEPTION 'a hold is what was decided' USING ERRCODE = 'CS003';
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

-- V0017 did not know of a raise that was lowered again, or of the first of two.
ALTER TABLE customer_limit DISABLE TRIGGER guard;
UPDATE customer_limit l SET raised_by = (
       SELECT a.id FROM action a JOIN decision d ON d.action_id = a.id AND d.outcome = 'approved'
        WHERE a.subject_id = l.subject_id AND a.kind = 'limit_change' AND a.limit_name = l.limit_name
          AND a.currency = l.currency AND a.limit_before < a.amount_minor AND a.amount_minor >= l.amount_minor
          AND a.execution = 'executed'
        ORDER BY d.decided_at DESC LIMIT 1)
 WHERE l.raised_by IS NULL AND l.withdrawn_at IS NULL;
ALTER TABLE customer_limit ENABLE ALWAYS TRIGGER guard;

-- As in V0017, but that the raise may have no row of its own: its change was kept in another's before V0017.
CREATE OR REPLACE FUNCTION own_limits(p_subject uuid, p_currency text)
RETURNS TABLE (limit_name text, amount_minor bigint, is_raised boolean, action_id uuid)
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (l.limit_name) l.limit_name, l.amount_minor,
           l.raised_by IS NOT NULL AND NOT EXISTS (
               SELECT FROM countersign.customer_limit r
                WHERE r.action_id = l.raised_by AND r.withdrawn_at IS NOT NULL),
           l.action_id
      FROM countersign.customer_limit l
     WHERE l.subject_id = p_subject AND l.currency = p_currency AND l.withdrawn_at IS NULL
     ORDER BY l.limit_name, l.number DESC
$$;

-- The name of a limit of the customer's own that a transfer passes now: lowered since, or raised when it
-- was approved and taken back since; then what held before the raise is the limit.
CREATE FUNCTION lowered_limit(a action, p_decided_at timestamptz) RETURNS text
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT min(n.name)
      FROM (VALUES ('single_max'), ('daily_max')) n (name)
      LEFT JOIN own_limits(a.subject_id, a.currency) l ON l.limit_name = n.name
      LEFT JOIN LATERAL (
           SELECT min(r.limit_before) AS before
             FROM customer_limit w JOIN action r ON r.id = w.action_id
            WHERE w.subject_id = a.subject_id AND w.limit_name = n.name AND w.currency = a.currency
              AND w.withdrawn_at > p_decided_at) gone ON true
      LEFT JOIN reservation v ON v.action_id = a.id AND v.returned_at IS NULL
           AND v.dimension = 'day:' || a.currency
      LEFT JOIN counter day ON day.subject_id = a.subject_id
           AND day.dimension = v.dimension AND day.window_start = v.window_start
     WHERE least(l.amount_minor, CASE WHEN l.is_raised IS NOT TRUE THEN gone.before END)
           < CASE n.name WHEN 'single_max' THEN a.amount_minor ELSE day.used END
$$;

-- Whether the confirmation of a payee is still held although its hold is over and ends in a release: the
-- next sweep writes that, unless something stands against it.
CREATE FUNCTION confirmation_is_due(p_action uuid, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM countersign.action h WHERE h.id = p_action AND h.execution = 'held'
                      AND h.hold_end IS DISTINCT FROM 'cancel' AND h.hold_until <= p_at)
$$;

-- Whether a transfer waits for the sweep to write what becomes of its payee.
CREATE FUNCTION payee_is_awaited(p_action uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM countersign.action a
          JOIN countersign.payee p ON p.subject_id = a.subject_id AND p.account = a.payee_account
               AND p.status = 'active'
         WHERE a.id = p_action AND a.kind = 'transfer'
           AND countersign.confirmation_is_due(p.action_id, clock_timestamp()))
$$;

-- As in V0017, and a payee whose confirmation is about to be released is not usable yet.
CREATE OR REPLACE FUNCTION policy_state(p_subject uuid, p_account text, p_currency text, p_at timestamptz,
    p_bank_day date, p_velocity_window_s int, p_daily_window text)
RETURNS TABLE (payee_id uuid, payee_confirmed_at timestamptz, payee_usable_at timestamptz,
    payee_new_until timestamptz, payee_first_executed_at timestamptz, used_today bigint,
    used_last_24h bigint, used_while_new bigint, transfers_in_window bigint,
    new_payees_today bigint, own_single_max bigint, own_single_raised boolean,
    own_daily_max bigint, own_daily_raised boolean)
LANGUAGE sql STABLE AS $$
    SELECT p.id, p.confirmed_at,
           -- Its confirmation is due to be released, or to be cancelled: whoever writes that decides.
           CASE WHEN countersign.confirmation_is_due(p.action_id, p_at)
                THEN greatest(p.usable_at, p_at + interval '60 seconds') ELSE p.usable_at END,
           p.new_until, p.first_executed_at,
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
           single.amount_minor, coalesce(single.is_raised, false),
           daily.amount_minor, coalesce(daily.is_raised, false)
      FROM (SELECT 1) one
      LEFT JOIN countersign.payee p ON p.subject_id = p_subject AND p.account = p_account
           AND p.status = 'active' AND NOT countersign.confirmation_has_lapsed(p.action_id, p_at)
      LEFT JOIN countersign.own_limits(p_subject, p_currency) single ON single.limit_name = 'single_max'
      LEFT JOIN countersign.own_limits(p_subject, p_currency) daily ON daily.limit_name = 'daily_max'
$$;

-- As in V0018, with lowered_limit.
CREATE OR REPLACE FUNCTION against_release(p_action uuid, OUT credential_end text, OUT payee_is_gone boolean,
    OUT limit_lowered text, OUT assisted_hold_lasts boolean)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT
       CASE WHEN d.act_id IS NOT NULL THEN
           -- Two officers stand behind it, or nobody does.
           CASE WHEN cardinality(signers_of(d.act_id)) < 2 THEN 'ended' END
       -- A recovery may have kept what its keys approved.
       WHEN cr.approvals_kept_at IS NULL THEN nullif(cr.status, 'active') END,
       a.kind = 'transfer' AND p.id IS NULL AND a.payee_unknown IS NOT TRUE,
       -- A limit is lower than when this was approved, or the same one was changed again.
       CASE WHEN a.kind = 'transfer' THEN lowered_limit(a, d.decided_at)
       WHEN a.kind = 'limit_change' THEN (
           SELECT 'superseded' FROM own_limits(a.subject_id, a.currency) l
             JOIN decision newer ON newer.action_id = l.action_id
            WHERE l.limit_name = a.limit_name AND newer.decided_at > d.decided_at)
       END,
       -- Whoever approves for a customer does not shorten the time in which the customer can object.
       coalesce(d.decided_at + make_interval(secs => assisted_hold_s(act)) > clock_timestamp(), false)
  FROM action a
  LEFT JOIN decision d ON d.action_id = a.id
  LEFT JOIN act ON act.id = d.act_id
  LEFT JOIN credential cr ON cr.id = d.credential_id
  LEFT JOIN payee p ON p.subject_id = a.subject_id AND p.account = a.payee_account
       -- Removed and confirmed anew it cools off anew: the old hold ends before that does, and whoever
       -- ends the old hold early does not end the new cooling-off.
       AND p.status = 'active' AND (p.usable_at <= clock_timestamp()
           OR p.usable_at <= a.hold_until AND p.confirmed_at <= d.decided_at)
       AND NOT EXISTS (SELECT FROM action h WHERE h.id = p.action_id AND h.execution = 'held'
                          AND (h.hold_end = 'cancel' OR h.hold_until > clock_timestamp()))
 WHERE a.id = p_action;
$$;

-- As in V0018, but that nothing is released before its payee.
CREATE OR REPLACE FUNCTION end_hold(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_act_evidence jsonb,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
    content jsonb;
    the_action action;
    stands record;
    is_cancel boolean;
BEGIN
    -- What is read of the act before its lock never changes.
    SELECT * INTO the_act FROM act WHERE id = (p_signature ->> 'act_id')::uuid
        AND kind IN ('hold.release', 'hold.cancel');
    content := convert_from(the_act.document, 'UTF8')::jsonb;
    is_cancel := the_act.kind = 'hold.cancel';
    SELECT * INTO the_action FROM action WHERE id = (content ->> 'action_id')::uuid;
    PERFORM 1 FROM customer WHERE subject_id = the_action.subject_id FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = the_action.id AND attempt = 0
        AND settled_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    SELECT * INTO the_action FROM action WHERE id = the_action.id FOR UPDATE;
    PERFORM 1 FROM act WHERE id = the_act.id FOR UPDATE;
    SELECT * INTO stands FROM against_release(the_action.id);
    IF (the_action.execution = 'held' AND the_action.seq = (content ->> 'seq')::int
        AND date_trunc('milliseconds', the_action.hold_until) = (content #>> '{hold,until}')::timestamptz
        AND the_action.hold_rule = content #>> '{hold,rule}'
        AND coalesce(the_action.hold_end, 'release') = content #>> '{hold,at_end}'
        AND (is_cancel OR (stands.credential_end IS NULL AND NOT stands.payee_is_gone
                           AND stands.limit_lowered IS NULL AND NOT stands.assisted_hold_lasts))
        AND (is_cancel OR NOT payee_is_awaited(the_action.id))
        AND signers_of(the_act.id) = p_people) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    IF NOT take_act_signature(ARRAY[the_act.kind], true, p_signature, p_key_state,
            (p_act_evidence -> 0 ->> 'id')::uuid) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_act_evidence, ARRAY[
        (SELECT signature_kind(the_act.kind, stage) FROM act_signature
          WHERE challenge_id = (p_signature ->> 'challenge_id')::uuid)]);
    PERFORM demand_evidence(p_evidence,
        CASE WHEN is_cancel THEN 'action.cancelled' ELSE 'action.released' END, the_action.subject_id);
    IF jsonb_array_length(p_evidence) <> 1 OR p_evidence #>> '{0,credential_id}' IS NOT NULL THEN
        RAISE EXCEPTION 'the end of a hold is told by one record' USING ERRCODE = 'CS005';
    END IF;
    PERFORM write_evidence(p_act_evidence || p_evidence);
    IF NOT is_cancel THEN
        PERFORM release_execution(the_action.subject_id, the_action.id, p_evidence);
        UPDATE execution_order SET available_at = least(available_at, clock_timestamp())
         WHERE action_id = the_action.id;
    ELSIF NOT cancel_execution(the_action.subject_id, the_action.id, p_evidence) THEN
        RAISE EXCEPTION 'an order changed under its lock' USING ERRCODE = 'CS006';
    END IF;
    PERFORM close_act(the_act.id, 'done', p_evidence);
    RETURN 'done';
END $$;

-- As in V0013, but that it asks again what stands against a release.
CREATE OR REPLACE FUNCTION release_action(p_subject uuid, p_version bigint, p_action uuid, p_seq int,
    p_cancel boolean, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    stands record;
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
    -- Asked again under the locks: the key of an officer may have ended since, which locks no customer.
    SELECT * INTO stands FROM against_release(p_action);
    IF payee_is_awaited(p_action)
        OR NOT p_cancel AND (stands.credential_end IS NULL AND NOT stands.payee_is_gone
            AND stands.limit_lowered IS NULL AND NOT stands.assisted_hold_lasts) IS NOT TRUE THEN
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

-- When a payee was removed; NULL for what was removed before this was kept.
ALTER TABLE payee ADD COLUMN removed_at timestamptz;
CREATE FUNCTION stamp_payee() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    new.removed_at := CASE WHEN new.status = 'removed' THEN coalesce(
        CASE WHEN old.status = 'removed' THEN old.removed_at END, clock_timestamp()) END;
    RETURN new;
END $$;
CREATE TRIGGER stamp BEFORE UPDATE OF status ON payee FOR EACH ROW
    WHEN (new.status <> old.status) EXECUTE FUNCTION stamp_payee();

-- As in V0020, but that it is imported now, and that what was removed since stays removed.
CREATE OR REPLACE FUNCTION import_payee(p_subject uuid, p_payee uuid, p_account text, p_name text,
    p_alias text, p_at timestamptz, p_evidence jsonb, p_act uuid, p_salt text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    digest bytea;
    is_new boolean;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    -- When it was imported is no matter of opinion: a recovery asks how old a payee is.
    IF (p_at BETWEEN clock_timestamp() - decision_age_max() AND clock_timestamp()) IS NOT TRUE THEN
        RAISE EXCEPTION 'a payee is imported now' USING ERRCODE = 'CS002';
    END IF;
    IF p_act IS NULL THEN
        IF NOT is_development() THEN RETURN 'not_signed'; END IF;
    ELSE
        digest := payee_row_digest((SELECT customer_id FROM customer WHERE subject_id = p_subject),
            p_account, p_name, p_alias, p_salt);
        -- The same row again waits for the customer's row, and finds what the first one wrote.
        IF EXISTS (SELECT FROM payee_import WHERE act_id = p_act AND row_digest = digest) THEN
            RETURN 'exists';
        END IF;
        IF is_import_signed(p_act, digest) IS NOT TRUE THEN RETURN 'not_signed'; END IF;
    END IF;
    -- A payee whose confirmation has lapsed is as good as removed, as for confirm_payee in V0017.
    UPDATE payee SET status = 'removed' WHERE subject_id = p_subject AND account = p_account
       AND status = 'active' AND confirmation_has_lapsed(action_id, clock_timestamp());
    INSERT INTO payee AS p (id, subject_id, account, name, alias, confirmed_at, usable_at, new_until,
           first_executed_at)
    VALUES (p_payee, p_subject, p_account, p_name, p_alias, p_at, p_at, p_at, p_at)
    ON CONFLICT (subject_id, account) DO UPDATE SET id = excluded.id, name = excluded.name,
        alias = excluded.alias, status = 'active', action_id = NULL,
        confirmed_at = excluded.confirmed_at, usable_at = excluded.usable_at,
        new_until = excluded.new_until, first_executed_at = excluded.first_executed_at
        -- What was removed after this was proposed to be signed stays removed.
        WHERE p.status = 'removed' AND (p_act IS NULL OR p.removed_at IS NULL
              OR confirmation_has_lapsed(p.action_id, clock_timestamp())
              OR p.removed_at < (SELECT created_at FROM act WHERE id = p_act));
    is_new := FOUND;
    IF p_act IS NOT NULL THEN
        INSERT INTO payee_import (act_id, row_digest, imported_at, payee_id, evidence_id)
        VALUES (p_act, digest, clock_timestamp(), CASE WHEN is_new THEN p_payee END,
                CASE WHEN is_new THEN (p_evidence -> 0 ->> 'id')::uuid END);
    END IF;
    IF NOT is_new THEN RETURN 'exists'; END IF;
    PERFORM demand_evidence(p_evidence, 'payee.imported', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'imported';
END $$;

-- An act under which payees may be imported, for the operator, who reads no other act: their documents
-- name customers, accounts and amounts.
REVOKE SELECT ON act FROM countersign_operator, countersign_auditor;
CREATE FUNCTION read_import_act(p_act uuid) RETURNS TABLE (state text, document bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    SELECT state, document FROM act WHERE id = p_act AND kind = 'payee.import'
$$;

GRANT EXECUTE ON FUNCTION lowered_limit, confirmation_is_due, payee_is_awaited, stamp_payee
    TO countersign_definer;
GRANT EXECUTE ON FUNCTION confirmation_is_due, payee_is_awaited, lowered_limit TO countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name, p.proname FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('release_action', 'end_hold', 'import_payee', 'read_import_act') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', f.name,
            CASE WHEN f.proname IN ('import_payee', 'read_import_act') THEN 'countersign_operator'
                 ELSE 'countersign_service' END);
    END LOOP;
END $$;
