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
-- What a limit was before its newest change was kept in the same row.
INSERT INTO customer_limit (subject_id, limit_name, currency, amount_minor, action_id)
SELECT subject_id, limit_name, currency, previous_minor, action_id FROM old_customer_limit
 WHERE previous_minor < amount_minor;
INSERT INTO customer_limit (subject_id, limit_name, currency, amount_minor, action_id, raised_by)
SELECT subject_id, limit_name, currency, amount_minor, action_id,
       CASE WHEN previous_minor < amount_minor THEN action_id END
  FROM old_customer_limit;
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

-- The limits that hold for a customer, one row each, with whether a raise that still holds is behind it.
CREATE FUNCTION own_limits(p_subject uuid, p_currency text)
RETURNS TABLE (limit_name text, amount_minor bigint, is_raised boolean, action_id uuid)
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (l.limit_name) l.limit_name, l.amount_minor,
           EXISTS (SELECT FROM countersign.customer_limit r
                    WHERE r.action_id = l.raised_by AND r.raised_by = r.action_id
                      AND r.withdrawn_at IS NULL),
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

-- As in V0013, with own limits as a history, and without a payee whose confirmation has lapsed.
DROP FUNCTION policy_state;
CREATE FUNCTION policy_state(p_subject uuid, p_account text, p_currency text, p_at timestamptz,
    p_bank_day date, p_velocity_window_s int, p_daily_window text)
RETURNS TABLE (payee_id uuid, payee_confirmed_at timestamptz, payee_usable_at timestamptz,
    payee_new_until timestamptz, payee_first_executed_at timestamptz, used_today bigint,
    used_last_24h bigint, used_while_new bigint, transfers_in_window bigint,
    new_payees_today bigint, own_single_max bigint, own_single_raised boolean,
    own_daily_max bigint, own_daily_raised boolean)
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
           single.amount_minor, coalesce(single.is_raised, false),
           daily.amount_minor, coalesce(daily.is_raised, false)
      FROM (SELECT 1) one
      LEFT JOIN countersign.payee p ON p.subject_id = p_subject AND p.account = p_account
           AND p.status = 'active' AND NOT countersign.confirmation_has_lapsed(p.action_id, p_at)
      LEFT JOIN countersign.own_limits(p_subject, p_currency) single ON single.limit_name = 'single_max'
      LEFT JOIN countersign.own_limits(p_subject, p_currency) daily ON daily.limit_name = 'daily_max'
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

-- As in V0016, with own limits as a history, and with the payee's own confirmation: while that is held,
-- nobody sends anything there, and when it has come to a cancellation, never.
CREATE OR REPLACE FUNCTION against_release(p_action uuid, OUT credential_end text,
    OUT payee_is_gone boolean, OUT limit_lowered text)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT
       -- A recovery may have kept what its keys approved.
       CASE WHEN cr.approvals_kept_at IS NULL THEN nullif(cr.status, 'active') END,
       a.kind = 'transfer' AND p.id IS NULL AND a.payee_unknown IS NOT TRUE,
       -- The customer has lowered a limit meanwhile, or changed the same one again.
       CASE WHEN a.kind = 'transfer' THEN (
           SELECT min(l.limit_name) FROM own_limits(a.subject_id, a.currency) l
             LEFT JOIN reservation r ON r.action_id = a.id AND r.returned_at IS NULL
                  AND r.dimension = 'day:' || a.currency
             LEFT JOIN counter day ON day.subject_id = a.subject_id
                  AND day.dimension = r.dimension AND day.window_start = r.window_start
            WHERE l.amount_minor < CASE l.limit_name WHEN 'single_max' THEN a.amount_minor
                                        ELSE day.used END)
       WHEN a.kind = 'limit_change' THEN (
           SELECT 'superseded' FROM own_limits(a.subject_id, a.currency) l
             JOIN decision newer ON newer.action_id = l.action_id
            WHERE l.limit_name = a.limit_name AND newer.decided_at > d.decided_at)
       END
  FROM action a
  LEFT JOIN decision d ON d.action_id = a.id
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

GRANT SELECT, INSERT ON customer_limit TO countersign_definer;
GRANT UPDATE (withdrawn_at) ON customer_limit TO countersign_definer;
GRANT SELECT ON customer_limit TO countersign_service;
GRANT EXECUTE ON FUNCTION guard_customer_limit, own_limits, confirmation_has_lapsed TO countersign_definer;
GRANT EXECUTE ON FUNCTION policy_state, own_limits, confirmation_has_lapsed TO countersign_service;
RESET ROLE;
