-- Shadows: drafts of a policy that are evaluated beside the one in force, on the decisions as they come,
-- and without effect. Nothing here is called by, or locks anything of, a deciding transaction.
-- Deployment: new tables and functions only; no lock on old data.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

CREATE TABLE policy_shadow (
    id              uuid PRIMARY KEY,
    label           text NOT NULL CONSTRAINT policy_shadow_label CHECK (char_length(label) BETWEEN 1 AND 64),
    document        bytea NOT NULL,
    digest          bytea NOT NULL GENERATED ALWAYS AS (sha256(document)) STORED,
    started_by      uuid NOT NULL REFERENCES client (id),
    -- Decisions from this time on are evaluated, until the earlier one of the two ends.
    started_at      timestamptz NOT NULL,
    until           timestamptz NOT NULL,
    ended_by        uuid REFERENCES client (id),
    ended_at        timestamptz,
    evidence_id     uuid NOT NULL UNIQUE,
    end_evidence_id uuid UNIQUE,
    -- Every decision of before this time has its verdict, and no more of them can appear.
    done_until      timestamptz NOT NULL,
    -- Where done_until goes next, as soon as every transaction up to this ID has ended.
    next_until      timestamptz,
    next_xid        xid8,
    CONSTRAINT policy_shadow_length
        CHECK (until > started_at AND until <= started_at + interval '30 days'),
    CONSTRAINT policy_shadow_end CHECK (num_nulls(ended_by, ended_at, end_evidence_id) IN (0, 3)),
    CONSTRAINT policy_shadow_next CHECK ((next_until IS NULL) = (next_xid IS NULL))
);

CREATE FUNCTION guard_policy_shadow() RETURNS trigger LANGUAGE plpgsql
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
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON policy_shadow FOR EACH ROW EXECUTE FUNCTION guard_policy_shadow();
CREATE TRIGGER no_delete BEFORE DELETE ON policy_shadow FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON policy_shadow
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE policy_shadow ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_delete,
    ENABLE ALWAYS TRIGGER no_truncate;

-- What a decision would have come to under a shadow, once. Nothing here names a person or an account.
CREATE TABLE shadow_verdict (
    shadow_id      uuid NOT NULL REFERENCES policy_shadow (id),
    -- Of the decision; it is the key of policy_decision, which may be deleted first.
    evidence_id    uuid NOT NULL,
    action_id      uuid NOT NULL,
    -- NULL for an action that could not be read again.
    kind           text,
    decided_at     timestamptz NOT NULL,
    -- Of a transfer: its currency, and the power of ten of minor units at which the band of its amount begins.
    currency       text,
    band_minor     bigint,
    before_outcome text NOT NULL CONSTRAINT shadow_verdict_before
                   CHECK (before_outcome IN ('allowed', 'held', 'refused')),
    before_rule    text,
    -- 'undecidable': the recorded inputs, the action or the draft cannot be read.
    after_outcome  text NOT NULL CONSTRAINT shadow_verdict_after
                   CHECK (after_outcome IN ('allowed', 'held', 'refused', 'undecidable')),
    after_rule     text,
    evaluated_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT shadow_verdict_pkey PRIMARY KEY (shadow_id, evidence_id),
    CONSTRAINT shadow_verdict_rules CHECK ((before_rule IS NULL) = (before_outcome = 'allowed')
        AND (after_rule IS NULL) = (after_outcome IN ('allowed', 'undecidable'))),
    CONSTRAINT shadow_verdict_kind CHECK (kind IS NOT NULL OR after_outcome = 'undecidable'),
    CONSTRAINT shadow_verdict_band CHECK ((currency IS NULL) = (band_minor IS NULL))
);
CREATE INDEX shadow_verdict_by_time ON shadow_verdict (decided_at);
CREATE INDEX shadow_verdict_changed ON shadow_verdict (shadow_id, decided_at, evidence_id)
    WHERE after_outcome <> 'undecidable'
      AND (before_outcome, before_rule) IS DISTINCT FROM (after_outcome, after_rule);
CREATE TRIGGER no_change BEFORE UPDATE ON shadow_verdict
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
ALTER TABLE shadow_verdict ENABLE ALWAYS TRIGGER no_change;

-- The end of the decisions that a shadow is for.
CREATE FUNCTION shadow_end(s policy_shadow) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT least(s.ended_at, s.until)
$$;

-- 'started', 'too_many' or 'lost_race'. p_shadow carries the columns by name; three at once are the most.
CREATE FUNCTION start_shadow(p_client uuid, p_shadow jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    fresh policy_shadow := jsonb_populate_record(NULL::policy_shadow, p_shadow - 'digest');
    at timestamptz;
BEGIN
    IF role_of_person(p_client) IS DISTINCT FROM 'risk' THEN RETURN 'lost_race'; END IF;
    PERFORM pg_advisory_xact_lock(7021, 1);
    at := clock_timestamp();
    IF (fresh.started_at BETWEEN at - decision_age_max() AND at AND fresh.until > at) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    IF (SELECT count(*) FROM policy_shadow s WHERE shadow_end(s) > at) >= 3 THEN
        RETURN 'too_many';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['policy.shadow_started']);
    PERFORM write_evidence(p_evidence);
    INSERT INTO policy_shadow (id, label, document, started_by, started_at, until, evidence_id, done_until)
    VALUES (fresh.id, fresh.label, fresh.document, p_client, fresh.started_at, fresh.until,
            (p_evidence -> 0 ->> 'id')::uuid, fresh.started_at);
    RETURN 'started';
END $$;

-- 'ended' or 'lost_race', which an ended one is too. Its decisions of before are still evaluated.
CREATE FUNCTION end_shadow(p_client uuid, p_shadow uuid, p_ended_at timestamptz, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    at timestamptz;
BEGIN
    IF role_of_person(p_client) IS DISTINCT FROM 'risk' THEN RETURN 'lost_race'; END IF;
    PERFORM pg_advisory_xact_lock(7021, 1);
    at := clock_timestamp();
    PERFORM 1 FROM policy_shadow WHERE id = p_shadow AND ended_at IS NULL AND until > at FOR UPDATE;
    IF NOT FOUND OR (p_ended_at BETWEEN at - decision_age_max() AND at) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['policy.shadow_ended']);
    PERFORM write_evidence(p_evidence);
    UPDATE policy_shadow SET ended_by = p_client, ended_at = greatest(p_ended_at, started_at),
           end_evidence_id = (p_evidence -> 0 ->> 'id')::uuid
     WHERE id = p_shadow;
    RETURN 'ended';
END $$;

-- Keeps verdicts, and tells of which decisions they were new: of several instances that evaluate one decision,
-- one verdict is kept.
CREATE FUNCTION record_shadow_verdicts(p_shadow uuid, p_verdicts jsonb) RETURNS SETOF uuid
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    INSERT INTO shadow_verdict AS w (shadow_id, evidence_id, action_id, kind, decided_at, currency,
           band_minor, before_outcome, before_rule, after_outcome, after_rule)
    SELECT p_shadow, h.evidence_id, h.action_id, v.kind, h.decided_at, v.currency, v.band_minor,
           v.before_outcome, v.before_rule, v.after_outcome, v.after_rule
      FROM jsonb_to_recordset(p_verdicts) AS v (evidence_id uuid, kind text, currency text,
           band_minor bigint, before_outcome text, before_rule text, after_outcome text, after_rule text)
      JOIN policy_decision h ON h.evidence_id = v.evidence_id
     -- In one order, so that two instances wait for each other and never in a circle.
     ORDER BY h.evidence_id
    ON CONFLICT ON CONSTRAINT shadow_verdict_pkey DO NOTHING
    RETURNING w.evidence_id;
$$;

-- Moves done_until forward when that leaves nothing behind, and tells it; NULL while another caller does.
--
-- Decisions are not committed in the order of their times. One call reads the clock and then keeps its own
-- transaction ID. Whoever gets a higher one compares its decided_at with the clock later than that
-- (lock_for_decision, under locks on rows, which need the ID), so its decision is not older than the clock
-- was, less decision_age_max. At a later call all transactions up to the kept ID have ended: no decision of
-- before that time can appear any more, and when none of those that are visible lacks its verdict, all are
-- done. A long transaction makes done_until wait, and no evaluation: the worker looks at everything from
-- done_until on.
CREATE FUNCTION advance_shadow(p_shadow uuid) RETURNS timestamptz
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_shadow policy_shadow;
    -- Before this transaction has an ID: the lock below is its first need of one.
    at timestamptz := clock_timestamp();
    done timestamptz;
BEGIN
    SELECT * INTO the_shadow FROM policy_shadow WHERE id = p_shadow FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    done := the_shadow.done_until;
    IF the_shadow.next_xid IS NOT NULL THEN
        IF the_shadow.next_xid >= pg_snapshot_xmin(pg_current_snapshot()) THEN
            RETURN done;
        END IF;
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

GRANT SELECT, INSERT ON policy_shadow, shadow_verdict TO countersign_definer;
GRANT UPDATE (ended_by, ended_at, end_evidence_id, done_until, next_until, next_xid) ON policy_shadow
    TO countersign_definer;
GRANT SELECT ON policy_shadow, shadow_verdict TO countersign_service;
GRANT EXECUTE ON FUNCTION guard_policy_shadow TO countersign_definer;
GRANT EXECUTE ON FUNCTION shadow_end TO countersign_definer, countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('start_shadow', 'end_shadow', 'record_shadow_verdicts',
                                  'advance_shadow') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
