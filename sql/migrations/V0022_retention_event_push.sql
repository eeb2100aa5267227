-- Decisions that a dry run can decide again are kept for a time, and the feed of events is sent to the bank.
-- Deployment: a new table; the triggers lock policy_decision and shadow_verdict for a moment.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- How long at least what a dry run looks at is kept: as long as a shadow may last.
CREATE FUNCTION decision_retention_min() RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT interval '30 days'
$$;

CREATE FUNCTION guard_forgetting() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF old.decided_at > clock_timestamp() - decision_retention_min() THEN
        RAISE EXCEPTION 'append-only: % is too young to be forgotten', tg_table_name
            USING ERRCODE = 'CS001';
    END IF;
    RETURN old;
END $$;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['policy_decision', 'shadow_verdict'] LOOP
        EXECUTE format('CREATE TRIGGER no_young_delete BEFORE DELETE ON %I
            FOR EACH ROW EXECUTE FUNCTION guard_forgetting()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
            FOR EACH STATEMENT EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_young_delete,
            ENABLE ALWAYS TRIGGER no_truncate', name);
    END LOOP;
END $$;

-- Forgets at most p_max verdicts of shadows and p_max decisions that are older than p_days, and tells how
-- many of both; zero while another caller does. Evidence keeps, encrypted, what the decisions looked at. What a shadow has not done yet
-- stays for it.
CREATE FUNCTION forget_policy_decisions(p_days int, p_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    before timestamptz;
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
    SELECT least(clock_timestamp() - make_interval(days => p_days), min(s.done_until)) INTO before
      FROM policy_shadow s WHERE s.done_until < shadow_end(s);
    WITH old AS (
        SELECT v.shadow_id, v.evidence_id FROM shadow_verdict v WHERE v.decided_at < before
         ORDER BY v.decided_at LIMIT p_max)
    DELETE FROM shadow_verdict v USING old
     WHERE v.shadow_id = old.shadow_id AND v.evidence_id = old.evidence_id;
    GET DIAGNOSTICS verdicts = ROW_COUNT;
    WITH old AS (
        SELECT h.evidence_id FROM policy_decision h WHERE h.decided_at < before
         ORDER BY h.decided_at LIMIT p_max)
    DELETE FROM policy_decision h USING old WHERE h.evidence_id = old.evidence_id;
    GET DIAGNOSTICS decisions = ROW_COUNT;
    RETURN verdicts + decisions;
END $$;

-- How far the feed of events was sent; one row. Whoever holds the lease sends the batch, one at a time.
CREATE TABLE event_push (
    only_one    boolean PRIMARY KEY DEFAULT true CONSTRAINT event_push_only_one CHECK (only_one),
    -- The receiver has said that it has every event up to this place.
    position    bigint NOT NULL DEFAULT 0,
    -- The last place of the batch that is under way; it stays the same until it has arrived, so that a batch
    -- that is sent again is the same one. NULL between two batches.
    batch_last  bigint,
    attempt     int NOT NULL DEFAULT 0,
    next_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_token uuid,
    lease_until timestamptz,
    CONSTRAINT event_push_place CHECK (position >= 0),
    CONSTRAINT event_push_batch CHECK (batch_last BETWEEN position + 1 AND position + 100),
    CONSTRAINT event_push_lease CHECK ((lease_token IS NULL) = (lease_until IS NULL))
);
INSERT INTO event_push DEFAULT VALUES;

CREATE FUNCTION guard_event_push() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF new.position <> old.position
        AND (new.position = old.batch_last AND old.lease_token IS NOT NULL) IS NOT TRUE THEN
        RAISE EXCEPTION 'the feed is sent batch by batch' USING ERRCODE = 'CS004';
    END IF;
    IF new.batch_last IS DISTINCT FROM old.batch_last AND old.batch_last IS NOT NULL
        AND new.position <> old.batch_last THEN
        RAISE EXCEPTION 'a batch stays the same until it has arrived' USING ERRCODE = 'CS004';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON event_push FOR EACH ROW EXECUTE FUNCTION guard_event_push();
CREATE TRIGGER no_delete BEFORE DELETE ON event_push FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON event_push
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE event_push ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_delete,
    ENABLE ALWAYS TRIGGER no_truncate;

-- Takes the batch that is due, under a fresh lease, and tells what waits. Always one row; without a batch
-- lease_token is NULL: nothing is due, or somebody else has it.
CREATE FUNCTION claim_event_push(p_max int, p_lease interval) RETURNS TABLE (
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
        (SELECT e.at FROM event e WHERE e.position = push.position + 1),
        push.lease_token, push.position, push.batch_last, push.attempt;
END $$;

-- False means that the lease was lost: another instance has the batch now.
CREATE FUNCTION settle_event_push(p_token uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE event_push SET position = batch_last, batch_last = NULL, attempt = 0,
           next_at = clock_timestamp(), lease_token = NULL, lease_until = NULL
     WHERE lease_token = p_token;
    RETURN FOUND;
END $$;

-- As above; the same batch is due again after p_after.
CREATE FUNCTION retry_event_push(p_token uuid, p_after interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE event_push SET next_at = clock_timestamp() + p_after, lease_token = NULL, lease_until = NULL
     WHERE lease_token = p_token;
    RETURN FOUND;
END $$;

GRANT DELETE ON policy_decision, shadow_verdict TO countersign_definer;
GRANT SELECT ON event_push TO countersign_definer, countersign_service;
GRANT UPDATE (position, batch_last, attempt, next_at, lease_token, lease_until) ON event_push
    TO countersign_definer;
GRANT EXECUTE ON FUNCTION decision_retention_min, guard_forgetting, guard_event_push
    TO countersign_definer;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('forget_policy_decisions', 'claim_event_push', 'settle_event_push',
                                  'retry_event_push') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
