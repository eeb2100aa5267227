-- Shadows: their verdicts are counted as they are written, looked for near the newest one while a
-- transaction is long open, and forgotten as a whole. A push of events that is stuck tells how long it is.
-- Deployment: shadow_verdict is locked against verdicts, which nobody waits for, while it is counted once
-- and gets its index; policy_shadow gets a column.

-- As in V0013: the owner replaces what runs as the definer.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('record_shadow_verdicts', 'advance_shadow',
                                  'forget_policy_decisions', 'claim_event_push') LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_owner', f.name);
    END LOOP;
END $$;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

ALTER TABLE policy_shadow ADD COLUMN
    -- From then on nothing is told of its verdicts, of which some may be deleted already.
    forgotten_at timestamptz;

-- As in V0021, and a shadow is forgotten once, when it is as old as its decisions have to be.
CREATE OR REPLACE FUNCTION guard_policy_shadow() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF (new.id, new.label, new.document, new.started_by, new.started_at, new.until, new.evidence_id)
       IS DISTINCT FROM
       (old.id, old.label, old.document, old.started_by, old.started_at, old.until, old.evidence_id) THEN
        RAISE EXCEPTION 'the content of a shadow is immutable' USING ERRCODE = 'CS003';
    END IF;
    IF new.done_until < old.done_until
        OR old.ended_at IS NOT NULL AND (new.ended_by, new.ended_at, new.end_evidence_id)
           IS DISTINCT FROM (old.ended_by, old.ended_at, old.end_evidence_id) THEN
        RAISE EXCEPTION 'a shadow ends once, and goes forward only' USING ERRCODE = 'CS004';
    END IF;
    IF new.ended_at IS DISTINCT FROM old.ended_at
        AND NOT is_told_now(new.end_evidence_id, ARRAY['policy.shadow_ended']) THEN
        RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    IF new.forgotten_at IS DISTINCT FROM old.forgotten_at
        AND (old.forgotten_at IS NULL AND new.done_until >= shadow_end(new)
             AND shadow_end(new) <= clock_timestamp() - decision_retention_min()) IS NOT TRUE THEN
        RAISE EXCEPTION 'append-only: the shadow is too young to be forgotten' USING ERRCODE = 'CS001';
    END IF;
    RETURN new;
END $$;

-- Verdicts of a shadow that are alike, counted: a report reads these few rows instead of all verdicts.
CREATE TABLE shadow_count (
    shadow_id      uuid NOT NULL REFERENCES policy_shadow (id),
    currency       text,
    band_minor     bigint,
    before_outcome text NOT NULL,
    before_rule    text,
    after_outcome  text NOT NULL,
    after_rule     text,
    times          bigint NOT NULL CONSTRAINT shadow_count_times CHECK (times > 0),
    CONSTRAINT shadow_count_key UNIQUE NULLS NOT DISTINCT
        (shadow_id, currency, band_minor, before_outcome, before_rule, after_outcome, after_rule)
);

-- Counts the verdicts of a statement, so that no function can forget it. Two instances that write at once
-- have written all their verdicts by now, and go through the counts in one order: no circle.
CREATE FUNCTION count_shadow_verdicts() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO shadow_count AS c (shadow_id, currency, band_minor, before_outcome, before_rule,
           after_outcome, after_rule, times)
    SELECT f.shadow_id, f.currency, f.band_minor, f.before_outcome, f.before_rule, f.after_outcome,
           f.after_rule, count(*)
      FROM fresh f GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT ON CONSTRAINT shadow_count_key DO UPDATE SET times = c.times + excluded.times;
    RETURN NULL;
END $$;

CREATE FUNCTION guard_shadow_count() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF new.times < old.times
        OR (new.shadow_id, new.currency, new.band_minor, new.before_outcome, new.before_rule,
            new.after_outcome, new.after_rule) IS DISTINCT FROM
           (old.shadow_id, old.currency, old.band_minor, old.before_outcome, old.before_rule,
            old.after_outcome, old.after_rule) THEN
        RAISE EXCEPTION 'append-only: counts only grow' USING ERRCODE = 'CS001';
    END IF;
    RETURN new;
END $$;

CREATE FUNCTION guard_shadow_forgetting() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM policy_shadow s
                    WHERE s.id = old.shadow_id AND s.forgotten_at IS NOT NULL) THEN
        RAISE EXCEPTION 'append-only: % is forgotten with its shadow', tg_table_name
            USING ERRCODE = 'CS001';
    END IF;
    RETURN old;
END $$;

DROP TRIGGER no_young_delete ON shadow_verdict;
CREATE TRIGGER counted AFTER INSERT ON shadow_verdict REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION count_shadow_verdicts();
CREATE TRIGGER only_forgotten BEFORE DELETE ON shadow_verdict
    FOR EACH ROW EXECUTE FUNCTION guard_shadow_forgetting();
ALTER TABLE shadow_verdict ENABLE ALWAYS TRIGGER counted, ENABLE ALWAYS TRIGGER only_forgotten;
CREATE TRIGGER guard BEFORE UPDATE ON shadow_count FOR EACH ROW EXECUTE FUNCTION guard_shadow_count();
CREATE TRIGGER only_forgotten BEFORE DELETE ON shadow_count
    FOR EACH ROW EXECUTE FUNCTION guard_shadow_forgetting();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON shadow_count
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE shadow_count ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER only_forgotten,
    ENABLE ALWAYS TRIGGER no_truncate;

-- What was there before the trigger, which keeps others out until this is committed.
INSERT INTO shadow_count (shadow_id, currency, band_minor, before_outcome, before_rule, after_outcome,
       after_rule, times)
SELECT v.shadow_id, v.currency, v.band_minor, v.before_outcome, v.before_rule, v.after_outcome,
       v.after_rule, count(*)
  FROM shadow_verdict v GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- Verdicts are forgotten by their shadow, and the newest one of a shadow is asked for.
DROP INDEX shadow_verdict_by_time;
CREATE INDEX shadow_verdict_by_time ON shadow_verdict (shadow_id, decided_at);

-- As in V0021. A decision of after the shadow's end is not its own, nor is there anything to add to one that
-- is forgotten. An end that is written at the same time may be missed: what reads verdicts asks again.
CREATE OR REPLACE FUNCTION record_shadow_verdicts(p_shadow uuid, p_verdicts jsonb) RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    INSERT INTO shadow_verdict AS w (shadow_id, evidence_id, action_id, kind, decided_at, currency,
           band_minor, before_outcome, before_rule, after_outcome, after_rule)
    SELECT s.id, h.evidence_id, h.action_id, v.kind, h.decided_at, v.currency, v.band_minor,
           v.before_outcome, v.before_rule, v.after_outcome, v.after_rule
      FROM policy_shadow s
     CROSS JOIN jsonb_to_recordset(p_verdicts) AS v (evidence_id uuid, kind text, currency text,
           band_minor bigint, before_outcome text, before_rule text, after_outcome text, after_rule text)
      JOIN policy_decision h ON h.evidence_id = v.evidence_id
     WHERE s.id = p_shadow AND s.forgotten_at IS NULL AND h.decided_at < shadow_end(s)
     -- In one order, so that two instances wait for each other and never in a circle.
     ORDER BY h.evidence_id
    ON CONFLICT ON CONSTRAINT shadow_verdict_pkey DO NOTHING
    RETURNING w.evidence_id;
$$;

-- Whether transactions that are still open keep done_until from moving. An ID that is not below the
-- snapshot's xmax is of another cluster, from which this database was restored: nobody waits for it.
CREATE FUNCTION shadow_waits(s policy_shadow) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(s.next_xid >= pg_snapshot_xmin(pg_current_snapshot())
                    AND s.next_xid < pg_snapshot_xmax(pg_current_snapshot()), false)
$$;

-- As in V0021, with two differences. The lock lets verdicts be written meanwhile, whose foreign key holds
-- the shadow's key. And an ID of another cluster counts as none: it may be above every one that comes here.
CREATE OR REPLACE FUNCTION advance_shadow(p_shadow uuid) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_shadow policy_shadow;
    -- Before this transaction has an ID: the lock below is its first need of one.
    at timestamptz := clock_timestamp();
    done timestamptz;
BEGIN
    SELECT * INTO the_shadow FROM policy_shadow WHERE id = p_shadow FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    done := the_shadow.done_until;
    IF shadow_waits(the_shadow) THEN
        RETURN done;
    END IF;
    IF the_shadow.next_xid < pg_snapshot_xmin(pg_current_snapshot()) THEN
        -- A statement of its own: its snapshot is not older than the one that was asked.
        IF EXISTS (SELECT FROM policy_decision h
                    WHERE h.decided_at >= done
                      AND h.decided_at < least(the_shadow.next_until, shadow_end(the_shadow))
                      AND NOT EXISTS (SELECT FROM shadow_verdict v WHERE v.shadow_id = p_shadow
                                         AND v.evidence_id = h.evidence_id)) THEN
            RETURN done;
        END IF;
        done := greatest(done, the_shadow.next_until);
    END IF;
    UPDATE policy_shadow SET done_until = done, next_until = at - decision_age_max(),
           next_xid = pg_current_xact_id()
     WHERE id = p_shadow;
    RETURN done;
END $$;

-- As in V0022, but a shadow is forgotten as a whole, when its end is older than p_days: half of its verdicts
-- would be told as if they were all. It tells how many verdicts and decisions were deleted.
CREATE OR REPLACE FUNCTION forget_policy_decisions(p_days int, p_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    before timestamptz := clock_timestamp() - make_interval(days => p_days);
    verdicts bigint;
    decisions bigint;
BEGIN
    IF (make_interval(days => p_days) >= decision_retention_min()) IS NOT TRUE THEN
        RAISE EXCEPTION 'decisions are kept for longer' USING ERRCODE = 'CS001';
    END IF;
    -- One at a time is enough, and needs no right to change a row.
    IF NOT pg_try_advisory_xact_lock(7022, 1) THEN
        RETURN 0;
    END IF;
    UPDATE policy_shadow s SET forgotten_at = clock_timestamp()
     WHERE s.forgotten_at IS NULL AND shadow_end(s) < before AND s.done_until >= shadow_end(s);
    DELETE FROM shadow_count c USING policy_shadow s
     WHERE s.id = c.shadow_id AND s.forgotten_at IS NOT NULL;
    WITH old AS (
        SELECT v.shadow_id, v.evidence_id
          FROM policy_shadow s
         CROSS JOIN LATERAL (SELECT v.shadow_id, v.evidence_id FROM shadow_verdict v
                              WHERE v.shadow_id = s.id LIMIT p_max) v
         WHERE s.forgotten_at IS NOT NULL LIMIT p_max)
    DELETE FROM shadow_verdict v USING old
     WHERE v.shadow_id = old.shadow_id AND v.evidence_id = old.evidence_id;
    GET DIAGNOSTICS verdicts = ROW_COUNT;
    SELECT least(before, min(s.done_until)) INTO before
      FROM policy_shadow s WHERE s.done_until < shadow_end(s);
    WITH old AS (
        SELECT h.evidence_id FROM policy_decision h WHERE h.decided_at < before
         ORDER BY h.decided_at LIMIT p_max)
    DELETE FROM policy_decision h USING old WHERE h.evidence_id = old.evidence_id;
    GET DIAGNOSTICS decisions = ROW_COUNT;
    RETURN verdicts + decisions;
END $$;

-- As in V0022, and what has waited longest is told also when the next place is missing: then the push is
-- stuck, and its lag is all that says so.
CREATE OR REPLACE FUNCTION claim_event_push(p_max int, p_lease interval) RETURNS TABLE (
    claimed_at timestamptz, waiting bigint, waiting_since timestamptz, lease_token uuid,
    after_place bigint, last_place bigint, attempt int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    newest bigint;
    push event_push;
BEGIN
    SELECT coalesce(max(e.position), 0) INTO newest FROM event e;
    -- Who waits here for another one's claim looks at the row again as that has left it.
    UPDATE event_push p SET lease_token = gen_random_uuid(), lease_until = clock_timestamp() + p_lease,
           attempt = p.attempt + 1, batch_last = coalesce(p.batch_last, least(p.position + p_max, newest))
     WHERE p.position < newest AND p.next_at <= clock_timestamp()
       AND (p.lease_until IS NULL OR p.lease_until < clock_timestamp())
    RETURNING p.* INTO push;
    IF push.lease_token IS NULL THEN
        SELECT p.* INTO push FROM event_push p;
        push.lease_token := NULL;
    END IF;
    RETURN QUERY SELECT clock_timestamp(), greatest(newest - push.position, 0),
        (SELECT e.at FROM event e WHERE e.position > push.position ORDER BY e.position LIMIT 1),
        push.lease_token, push.position, push.batch_last, push.attempt;
END $$;

GRANT SELECT, INSERT, UPDATE (times), DELETE ON shadow_count TO countersign_definer;
GRANT SELECT ON shadow_count TO countersign_service;
GRANT UPDATE (forgotten_at) ON policy_shadow TO countersign_definer;
GRANT EXECUTE ON FUNCTION count_shadow_verdicts, guard_shadow_count, guard_shadow_forgetting
    TO countersign_definer;
GRANT EXECUTE ON FUNCTION shadow_waits TO countersign_definer, countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('record_shadow_verdicts', 'advance_shadow',
                                  'forget_policy_decisions', 'claim_event_push') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
