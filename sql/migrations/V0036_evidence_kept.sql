-- Detaching a month of evidence takes nothing away on which later records rest: such records are kept here. It
-- never stands in the way of approvals for longer than a moment, and loses no race against a legal hold.
-- Deployment: one new table, a view and functions; nothing old is read or locked.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Records of detached months that later ones rest on, as they were in evidence. Leaves hold no personal data, and
-- bodies stay in evidence_body until their customer is erased. Only detach_evidence_month writes here.
CREATE TABLE evidence_kept (
    LIKE evidence INCLUDING CONSTRAINTS INCLUDING GENERATED,
    CONSTRAINT evidence_kept_pkey PRIMARY KEY (id)
);
CREATE INDEX evidence_kept_by_action ON evidence_kept (action_id, id) WHERE action_id IS NOT NULL;
CREATE INDEX evidence_kept_by_subject ON evidence_kept (subject_id, id);
CREATE INDEX evidence_kept_by_credential ON evidence_kept (credential_id, id) WHERE credential_id IS NOT NULL;
CREATE INDEX evidence_kept_by_kind ON evidence_kept (kind, id);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON evidence_kept FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON evidence_kept FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE evidence_kept ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- All that is here. Without any condition, so that indexes of both tables are used through it. A record is in both
-- only where a month was attached again.
CREATE VIEW evidence_known AS
SELECT id, xid, kind, action_id, subject_id, credential_id, leaf, leaf_hash, body_commit, recorded_at FROM evidence
UNION ALL
SELECT id, xid, kind, action_id, subject_id, credential_id, leaf, leaf_hash, body_commit, recorded_at
  FROM evidence_kept;

CREATE FUNCTION month_floor(p_month date) RETURNS uuid LANGUAGE sql IMMUTABLE
SET search_path = countersign, pg_temp AS $$
    SELECT uuid7_floor(p_month::timestamp AT TIME ZONE 'UTC')
$$;

-- What of a month stays when it is detached:
--   * what an audit compares later records with: keys, policies and people with their acts, the installation,
--     payees and recoveries, erasures, detached months, keys of the log;
--   * records of actions that went on after the month, and of those in which officers had a part, since an act has
--     its effect once: the last record of an action is its head;
--   * records of the service itself whose bodies are a customer's, so that an erasure can name them.
CREATE FUNCTION evidence_to_keep(p_month date) RETURNS TABLE (id uuid, leaf_hash bytea)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    WITH month AS MATERIALIZED (
        SELECT e.id, e.kind, e.action_id, e.subject_id, e.leaf_hash FROM evidence e
         WHERE e.id >= month_floor(p_month) AND e.id < month_floor((p_month + interval '1 month')::date)),
    unfinished AS (
        SELECT m.action_id FROM month m JOIN action a ON a.id = m.action_id
         GROUP BY m.action_id HAVING NOT bool_or(m.leaf_hash = a.head))
    SELECT m.id, m.leaf_hash FROM month m
     WHERE m.kind = ANY ('{credential.enrolled,credential.revoked,credential.suspended,policy.published,
            policy.proposed,policy.approved,act.proposed,act.approved,act.refused,act.withdrawn,
            person.key_registered,person.key_admitted,person.key_revoked,person.founding_reopened,
            installation.stated,payee.added,payee.imported,payee.removed,recovery,subject.erased,
            evidence.detached,log.key}'::text[])
        OR m.action_id IN (SELECT u.action_id FROM unfinished u)
        OR m.action_id IN (SELECT t.action_id FROM act t WHERE t.action_id IS NOT NULL)
        OR m.subject_id = '00000000-0000-0000-0000-000000000000'
           AND EXISTS (SELECT FROM evidence_body b WHERE b.evidence_id = m.id AND b.subject_id <> m.subject_id)
        -- A month that was attached again is detached as it was.
        OR EXISTS (SELECT FROM evidence_kept k WHERE k.id = m.id)
$$;

-- What is kept of a detached month: how many records, and SHA-256 over their leaf hashes in the order of IDs. The
-- record of the detaching says the same.
CREATE FUNCTION evidence_kept_of(p_month date, OUT kept bigint, OUT kept_digest bytea)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT count(*), sha256(coalesce(string_agg(k.leaf_hash, ''::bytea ORDER BY k.id), ''::bytea))
      FROM evidence_kept k
     WHERE k.id >= month_floor(p_month) AND k.id < month_floor((p_month + interval '1 month')::date)
$$;

DROP FUNCTION detach_evidence_month(date, int, bigint, bigint, bigint, jsonb);
DROP FUNCTION evidence_month(date);

-- As in V0034, and what of the month would be kept.
CREATE FUNCTION evidence_month(p_month date, OUT records bigint, OUT first_position bigint, OUT last_position bigint,
    OUT kept bigint, OUT kept_digest bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    missing bigint;
BEGIN
    SELECT count(*), min(l.position), max(l.position), count(*) FILTER (WHERE l.position IS NULL)
      INTO records, first_position, last_position, missing
      FROM evidence e
      LEFT JOIN log_leaf l ON l.evidence_id = e.id AND l.position < (SELECT published FROM log_state)
     WHERE e.id >= month_floor(p_month) AND e.id < month_floor((p_month + interval '1 month')::date);
    IF missing > 0 THEN
        first_position := NULL;
        last_position := NULL;
    END IF;
    SELECT count(*), sha256(coalesce(string_agg(k.leaf_hash, ''::bytea ORDER BY k.id), ''::bytea))
      INTO kept, kept_digest FROM evidence_to_keep(p_month) k;
END $$;

-- Whether a legal hold stands on a customer with a record in a month: told of the customer, or by the service
-- itself with a body that is the customer's.
CREATE FUNCTION is_month_held(p_month date) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    first uuid := month_floor(p_month);
    after uuid := month_floor((p_month + interval '1 month')::date);
BEGIN
    RETURN EXISTS (SELECT FROM legal_hold h WHERE h.lifted_at IS NULL AND (
        EXISTS (SELECT FROM evidence e WHERE e.subject_id = h.subject_id AND e.id >= first AND e.id < after)
        OR EXISTS (SELECT FROM evidence_body b
                    WHERE b.subject_id = h.subject_id AND b.evidence_id >= first AND b.evidence_id < after)
        OR EXISTS (SELECT FROM unnest(service_records_of(h.subject_id)) r WHERE r >= first AND r < after)));
END $$;

-- Detaches the oldest month of evidence: what later records rest on goes to evidence_kept; its table stays, under
-- its name, for whoever keeps it elsewhere and drops it. Leaf hashes, positions and tiles stay too.
-- 'detached', or why not: 'unknown' (no such month, or not the oldest), 'retention', 'unsequenced' (not every
-- record is in a published checkpoint), 'legal_hold' (on a customer with a record in it), 'lost_race', or 'busy':
-- somebody has the table. It waits for that only as long as everybody can wait who writes evidence, since they
-- all queue behind it; and so it also ends by itself when whoever called it has gone.
CREATE FUNCTION detach_evidence_month(p_month date, p_retention_days int, p_records bigint, p_first bigint,
    p_last bigint, p_kept bigint, p_kept_digest bytea, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
    name text := format('evidence_%s', to_char(p_month, 'YYYY_MM'));
    before pg_snapshot := pg_current_snapshot();
    found record;
BEGIN
    -- Each statement has to see what was committed while the one before it waited.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'months are detached in READ COMMITTED' USING ERRCODE = 'CS009';
    END IF;
    IF (p_retention_days >= evidence_retention_min()) IS NOT TRUE THEN
        RAISE EXCEPTION 'evidence is kept for longer' USING ERRCODE = 'CS001';
    END IF;
    PERFORM pg_advisory_xact_lock(7002, 1);
    IF oldest_evidence() IS DISTINCT FROM month_floor(p_month) THEN
        RETURN 'unknown';
    END IF;
    IF (p_month + interval '1 month')::timestamp AT TIME ZONE 'UTC' + make_interval(days => p_retention_days)
        > clock_timestamp() THEN
        RETURN 'retention';
    END IF;
    -- Whatever takes long is done before the lock: a month that is over does not change, but for what was under way.
    SELECT * INTO found FROM evidence_month(p_month);
    IF found.records > 0 AND found.first_position IS NULL THEN
        RETURN 'unsequenced';
    END IF;
    IF is_month_held(p_month) THEN
        RETURN 'legal_hold';
    END IF;
    IF (found.records, found.first_position, found.last_position, found.kept, found.kept_digest)
        IS DISTINCT FROM (p_records, p_first, p_last, p_kept, p_kept_digest) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_one(p_evidence, 'evidence.detached', '00000000-0000-0000-0000-000000000000');
    IF convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome'
        IS DISTINCT FROM to_char(p_month, 'YYYY-MM') THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    PERFORM keep_evidence(p_month);
    -- A legal hold is evidence: whoever sets one has this lock in its way, and was seen by what follows or comes
    -- after it.
    EXECUTE 'LOCK TABLE ONLY evidence IN ACCESS EXCLUSIVE MODE';
    EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', name);
    IF is_month_held(p_month) THEN
        RAISE EXCEPTION 'legal_hold' USING ERRCODE = 'CS014';
    END IF;
    SELECT * INTO found FROM evidence_kept_of(p_month);
    IF (found.kept, found.kept_digest) IS DISTINCT FROM (p_kept, p_kept_digest)
        OR EXISTS (SELECT FROM evidence e
                    WHERE e.xid >= pg_snapshot_xmin(before) AND NOT pg_visible_in_snapshot(e.xid, before)
                      AND e.id >= month_floor(p_month) AND e.id < month_floor((p_month + interval '1 month')::date))
    THEN
        RAISE EXCEPTION 'lost_race' USING ERRCODE = 'CS014';
    END IF;
    PERFORM write_evidence(p_evidence);
    EXECUTE format('ALTER TABLE evidence DETACH PARTITION %I', name);
    -- The triggers of the whole end with it; its rows stay as they are.
    EXECUTE format('CREATE TRIGGER no_change BEFORE INSERT OR UPDATE OR DELETE ON %I
        FOR EACH ROW EXECUTE FUNCTION forbid_change()', name);
    EXECUTE format('DROP TRIGGER IF EXISTS no_truncate ON %I', name);
    EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION forbid_change()', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate', name);
    RETURN 'detached';
EXCEPTION
    -- Nothing stays of what was done before, and no lock.
    WHEN lock_not_available OR deadlock_detected THEN RETURN 'busy';
    WHEN SQLSTATE 'CS014' THEN RETURN sqlerrm;
END $$;

CREATE FUNCTION keep_evidence(p_month date) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO evidence_kept (id, xid, kind, action_id, subject_id, credential_id, leaf, body_commit, recorded_at)
    SELECT e.id, e.xid, e.kind, e.action_id, e.subject_id, e.credential_id, e.leaf, e.body_commit, e.recorded_at
      FROM evidence e JOIN evidence_to_keep(p_month) k ON k.id = e.id
     WHERE e.id >= month_floor(p_month) AND e.id < month_floor((p_month + interval '1 month')::date)
    ON CONFLICT (id) DO NOTHING;
END $$;

-- As in V0033, and of detached months too, whose records of this sort are kept.
CREATE OR REPLACE FUNCTION service_records_of(p_subject uuid) RETURNS uuid[]
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT coalesce(array_agg(x.id ORDER BY x.id), '{}') FROM (
        SELECT b.evidence_id AS id FROM evidence_body b JOIN evidence e ON e.id = b.evidence_id
         WHERE b.subject_id = p_subject AND e.subject_id <> p_subject
        UNION
        SELECT b.evidence_id FROM evidence_body b JOIN evidence_kept k ON k.id = b.evidence_id
         WHERE b.subject_id = p_subject AND k.subject_id <> p_subject
        UNION
        SELECT s.evidence_id FROM action a JOIN act t ON t.action_id = a.id
          JOIN act_signature s ON s.act_id = t.id JOIN evidence_body b ON b.evidence_id = s.evidence_id
         WHERE a.subject_id = p_subject) x
$$;

-- As in V0034, over all records that are here.
CREATE OR REPLACE FUNCTION find_evidence(p_filter jsonb, p_after uuid, p_limit int) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE ROWS 100 SET search_path = countersign, pg_temp AS $$
DECLARE
    f jsonb := jsonb_strip_nulls(p_filter);
    subject uuid;
    rules text[] := '{}';
BEGIN
    IF f ? 'customer_id' THEN
        SELECT c.subject_id INTO subject FROM customer c WHERE c.customer_id = f ->> 'customer_id';
        IF subject IS NULL THEN
            RETURN;
        END IF;
        rules := rules || format('e.subject_id = %L::uuid', subject);
    END IF;
    IF f ? 'subject_id' THEN rules := rules || format('e.subject_id = %L::uuid', f ->> 'subject_id'); END IF;
    IF f ? 'action_id' THEN rules := rules || format('e.action_id = %L::uuid', f ->> 'action_id'); END IF;
    IF f ? 'external_id' THEN
        rules := rules || format('e.action_id = ANY (ARRAY(SELECT a.id FROM action a WHERE a.external_id = %L))',
                                 f ->> 'external_id');
    END IF;
    IF f ? 'credential_id' THEN
        rules := rules || format('e.credential_id = %L::uuid', f ->> 'credential_id');
    END IF;
    IF f ? 'kind' THEN rules := rules || format('e.kind = %L', f ->> 'kind'); END IF;
    IF f ? 'outcome' THEN rules := rules || format('leaf_member(e.leaf, ''outcome'') = %L', f ->> 'outcome'); END IF;
    IF f ? 'policy_version' THEN
        rules := rules || format('leaf_member(e.leaf, ''policy'') = %L', coalesce((SELECT encode(p.digest, 'hex')
            FROM policy p WHERE p.version = (f ->> 'policy_version')::int), '-'));
    END IF;
    IF f ? 'policy_digest' THEN
        rules := rules || format('leaf_member(e.leaf, ''policy'') = %L', f ->> 'policy_digest');
    END IF;
    -- Of the decision on the action that a record is about.
    IF f ? 'hold' THEN
        rules := rules || CASE f ->> 'hold'
            WHEN 'with' THEN 'EXISTS (SELECT FROM decision d WHERE d.action_id = e.action_id AND d.hold_rule IS NOT NULL)'
            WHEN 'without' THEN 'EXISTS (SELECT FROM decision d WHERE d.action_id = e.action_id AND d.hold_rule IS NULL'
                || ' AND d.outcome = ''approved'')'
            ELSE format('EXISTS (SELECT FROM decision d WHERE d.action_id = e.action_id AND d.hold_rule = %L)',
                        f ->> 'hold') END;
    END IF;
    IF f ? 'from' THEN rules := rules || format('e.id >= %L::uuid', uuid7_floor((f ->> 'from')::timestamptz)); END IF;
    IF f ? 'to' THEN rules := rules || format('e.id < %L::uuid', uuid7_floor((f ->> 'to')::timestamptz)); END IF;
    IF p_after IS NOT NULL THEN rules := rules || format('e.id > %L::uuid', p_after); END IF;
    RETURN QUERY EXECUTE 'SELECT e.id FROM evidence_known e WHERE '
        || coalesce(nullif(array_to_string(rules, ' AND '), ''), 'true') || format(' ORDER BY e.id LIMIT %s', p_limit);
END $$;

-- Whether any month was detached, and whether a record is of one that was; of those that are kept only one about an
-- action, of which other records are missing.
CREATE FUNCTION is_evidence_detached(p_evidence uuid, OUT any_month boolean, OUT is_detached boolean)
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    oldest uuid := oldest_evidence();
BEGIN
    any_month := EXISTS (SELECT FROM log_leaf WHERE evidence_id < oldest);
    is_detached := EXISTS (SELECT FROM log_leaf WHERE evidence_id = p_evidence AND evidence_id < oldest)
        AND NOT EXISTS (SELECT FROM evidence_kept WHERE id = p_evidence AND action_id IS NULL);
END $$;
RESET ROLE;

REVOKE EXECUTE ON FUNCTION countersign.evidence_month, countersign.detach_evidence_month FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.evidence_month, countersign.detach_evidence_month TO countersign_operator;
GRANT SELECT ON countersign.evidence_kept, countersign.evidence_known
    TO countersign_definer, countersign_service, countersign_auditor, countersign_eraser;
GRANT EXECUTE ON FUNCTION countersign.month_floor, countersign.evidence_kept_of, countersign.is_evidence_detached
    TO countersign_service, countersign_auditor;
