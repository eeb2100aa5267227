-- A customer's own limits as a history, so that a raise that comes to nothing leaves what would hold without
-- it; and payees that wait for their own confirmation.
-- Deployment: rewrites customer_limit, one row for each limit that somebody has set.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- One row for each change; the newest that was not withdrawn is the limit.
ALTER TABLE customer_limit RENAME TO old_customer_limit;
ALTER TABLE old_customer_limit RENAME CONSTRAINT customer_limit_pkey TO old_customer_limit_pkey;
CREATE TABLE customer_limit (
    -- In the order of taking effect: whoever writes holds the customer's row.
    number          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_id      uuid NOT NULL REFERENCES customer (subject_id),
    limit_name      text NOT NULL CONSTRAINT customer_limit_name
                    CHECK (limit_name IN ('single_max', 'daily_max')),
    currency        text NOT NULL,
    amount_minor    bigint NOT NULL CONSTRAINT customer_limit_not_negative CHECK (amount_minor >= 0),
    action_id       uuid NOT NULL REFERENCES action (id),
    -- The action whose raise it stands on: its own, or that of the raise which it lowers. Without a raise that
    -- still holds, an own limit never gives more than the policy gives everybody.
    raised_by       uuid REFERENCES action (id),
    withdrawn_at    timestamptz,
    CONSTRAINT customer_limit_withdrawn CHECK (withdrawn_at IS NULL OR raised_by IS NOT DISTINCT FROM action_id)
);
-- What a limit was before its newest change was kept in the same row. Behind what was no raise itself may
-- stand the newest raise that was executed.
INSERT INTO customer_limit (subject_id, limit_name, currency, amount_minor, action_id, raised_by)
SELECT x.subject_id, x.limit_name, x.currency, x.amount_minor, x.action_id,
       CASE WHEN x.is_raise THEN x.action_id ELSE (
           SELECT a.id FROM action a JOIN decision d ON d.action_id = a.id AND d.outcome = 'approved'
            WHERE a.subject_id = x.subject_id AND a.kind = 'limit_change' AND a.limit_name = x.limit_name
              AND a.currency = x.currency AND a.limit_before < a.amount_minor
              AND a.amount_minor >= x.amount_minor AND a.execution = 'executed'
            ORDER BY d.decided_at DESC LIMIT 1) END
  FROM (SELECT o.*, o.previous_minor < o.amount_minor AS is_raise, 1 AS place FROM old_customer_limit o
        UNION ALL
        SELECT o.subject_id, o.limit_name, o.currency, o.previous_minor, o.previous_minor, o.action_id,
               false, 0
          FROM old_customer_limit o WHERE o.previous_minor < o.amount_minor) x
 ORDER BY x.place;
DROP TABLE old_customer_limit;
CREATE INDEX customer_limit_in_force ON customer_limit (subject_id, limit_name, currency, number DESC)
    WHERE withdrawn_at IS NULL;
CREATE INDEX customer_limit_by_action ON customer_limit (action_id);

CREATE FUNCTION guard_customer_limit() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF old.withdrawn_at IS NOT NULL
        OR (to_jsonb(new) - 'withdrawn_at') <> (to_jsonb(old) - 'withdrawn_at') THEN
        RAISE EXCEPTION 'a change of a limit is only withdrawn' USING ERRCODE = 'CS003';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON customer_limit FOR EACH ROW EXECUTE FUNCTION guard_customer_limit();
CREATE TRIGGER no_change BEFORE DELETE ON customer_limit FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON customer_limit
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE customer_limit ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_change,
    ENABLE ALWAYS TRIGGER no_truncate;

-- The limits that hold for a customer, one row each, with whether a raise that still holds is behind it. The
-- raise may have no row of its own: before this migration its change was kept in another's.
CREATE FUNCTION own_limits(p_subject uuid, p_currency text)
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

-- Sets the limit that an action changes. p_before is what held when it was approved.
CREATE OR REPLACE FUNCTION set_limit(p_action uuid, p_before bigint) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    INSERT INTO customer_limit (subject_id, limit_name, currency, amount_minor, action_id, raised_by)
    SELECT a.subject_id, a.limit_name, a.currency, a.amount_minor, a.id,
           CASE WHEN a.amount_minor > p_before THEN a.id
                ELSE (SELECT l.raised_by FROM customer_limit l
                       WHERE l.subject_id = a.subject_id AND l.limit_name = a.limit_name
                         AND l.currency = a.currency AND l.withdrawn_at IS NULL
                       ORDER BY l.number DESC LIMIT 1) END
      FROM action a WHERE a.id = p_action;
$$;

-- Takes a raise back that this action has made, whatever came after it. What it has lowered stays:
-- stricter needs no return.
CREATE OR REPLACE FUNCTION withdraw_limit(p_action uuid) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    UPDATE customer_limit SET withdrawn_at = clock_timestamp()
     WHERE action_id = p_action AND raised_by = p_action AND withdrawn_at IS NULL;
$$;

-- Whether the confirmation of a payee was held and has come to a cancellation, though nobody has written
-- that yet: there is no such payee any more.
CREATE FUNCTION confirmation_has_lapsed(p_action uuid, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM countersign.action h WHERE h.id = p_action AND h.execution = 'held'
                      AND h.hold_end = 'cancel' AND h.hold_until <= p_at)
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

-- As in V0013, with own limits as a history, without a payee whose confirmation has lapsed, and with one
-- whose confirmation is about to be released not usable yet.
DROP FUNCTION policy_state;
CREATE FUNCTION policy_state(p_subject uuid, p_account text, p_currency text, p_at timestamptz,
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
           own.single_max, coalesce(own.single_raised, false), own.daily_max,
           coalesce(own.daily_raised, false)
      FROM (SELECT 1) one
      LEFT JOIN countersign.payee p ON p.subject_id = p_subject AND p.account = p_account
           AND p.status = 'active' AND NOT countersign.confirmation_has_lapsed(p.action_id, p_at)
     CROSS JOIN (
           SELECT min(l.amount_minor) FILTER (WHERE l.limit_name = 'single_max') AS single_max,
                  bool_or(l.is_raised) FILTER (WHERE l.limit_name = 'single_max') AS single_raised,
                  min(l.amount_minor) FILTER (WHERE l.limit_name = 'daily_max') AS daily_max,
                  bool_or(l.is_raised) FILTER (WHERE l.limit_name = 'daily_max') AS daily_raised
             FROM countersign.own_limits(p_subject, p_currency) l) own
$$;

-- As in V0015, but that a payee whose confirmation has lapsed is as good as removed.
CREATE OR REPLACE FUNCTION confirm_payee(p_subject uuid, p_action uuid, p_at timestamptz,
    p_payee jsonb) RETURNS void LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    UPDATE payee p SET status = 'removed'
      FROM action a
     WHERE a.id = p_action AND p.subject_id = p_subject AND p.account = a.payee_account
       AND p.status = 'active' AND confirmation_has_lapsed(p.action_id, p_at);
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

GRANT SELECT, INSERT ON customer_limit TO countersign_definer;
GRANT UPDATE (withdrawn_at) ON customer_limit TO countersign_definer;
GRANT SELECT ON customer_limit TO countersign_service;
GRANT EXECUTE ON FUNCTION guard_customer_limit, own_limits, lowered_limit, confirmation_has_lapsed,
    confirmation_is_due, payee_is_awaited TO countersign_definer;
GRANT EXECUTE ON FUNCTION policy_state, own_limits, lowered_limit, confirmation_has_lapsed,
    confirmation_is_due, payee_is_awaited TO countersign_service;
RESET ROLE;
