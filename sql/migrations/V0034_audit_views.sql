-- What auditors ask: views over evidence and the log, their five questions, the filters of the API, and months of
-- evidence that are detached when their retention is over.
-- Deployment: indexes are built on evidence, action and decision, which locks them against writing meanwhile: on
-- a large table make them before, CONCURRENTLY and partition by partition, under the same names.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- A member of a leaf; NULL when it has none. IMMUTABLE, so that it can be indexed: convert_from is not, since
-- conversions can be replaced, and encode is. A leaf is one object of texts in RFC 8785 form: a quote inside of a
-- value has a backslash before it, so that this finds members only, and it never fails.
CREATE FUNCTION leaf_member(leaf bytea, name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT nullif(pg_catalog.split_part(pg_catalog.split_part(
        pg_catalog.encode(leaf, 'escape'), '"' || name || '":"', 2), '"', 1), '')
$$;

CREATE INDEX evidence_by_outcome ON evidence (leaf_member(leaf, 'outcome'), id);
CREATE INDEX evidence_by_policy ON evidence (leaf_member(leaf, 'policy'), id)
    WHERE leaf_member(leaf, 'policy') IS NOT NULL;
CREATE INDEX action_by_external_id ON action (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX decision_by_time ON decision (decided_at);
CREATE INDEX decision_held ON decision (hold_rule, decided_at) WHERE hold_rule IS NOT NULL;

-- Every record, as its leaf and its columns say it. The body stays encrypted. A column that is not asked for costs
-- nothing: each join is by a unique key.
CREATE VIEW audit_evidence AS
SELECT e.id, e.kind, e.recorded_at, c.customer_id, e.subject_id, e.action_id, e.credential_id,
       leaf_member(e.leaf, 'at') AS at, leaf_member(e.leaf, 'outcome') AS outcome,
       leaf_member(e.leaf, 'policy') AS policy_digest, l.position, e.leaf, e.leaf_hash,
       b.evidence_id IS NOT NULL AS has_body, x.erased_at
  FROM evidence e
  LEFT JOIN customer c ON c.subject_id = e.subject_id
  LEFT JOIN log_leaf l ON l.evidence_id = e.id
  LEFT JOIN evidence_body b ON b.evidence_id = e.id
  LEFT JOIN erasure x ON x.subject_id = e.subject_id;

-- Every checkpoint, and what others have said of it.
CREATE VIEW audit_checkpoint AS
SELECT c.size, c.root, convert_from(c.note, 'UTF8') AS note, c.size <= s.published AS is_published,
       (SELECT count(*) FROM log_cosignature w WHERE w.size = c.size) AS cosignatures,
       (SELECT min(t.stamped_at) FROM log_timestamp t WHERE t.size = c.size) AS stamped_at
  FROM log_checkpoint c CROSS JOIN log_state s;

-- What has no position yet; nothing here is older than some seconds when the log goes on. A record is unsequenced
-- only if its transaction was not visible in the last batch's snapshot: by that it is found without a scan.
CREATE VIEW audit_unsequenced AS
SELECT e.id, e.kind, e.recorded_at, e.subject_id, e.action_id, e.credential_id
  FROM evidence e
 WHERE e.xid >= coalesce((SELECT pg_snapshot_xmin(snapshot) FROM log_state), '0'::xid8)
   AND NOT EXISTS (SELECT FROM log_leaf l WHERE l.evidence_id = e.id);

-- 1. Everything of a customer in a period.
CREATE FUNCTION audit_of_customer(p_customer text, p_from timestamptz, p_until timestamptz)
RETURNS SETOF audit_evidence LANGUAGE sql STABLE AS $$
    SELECT v.* FROM countersign.audit_evidence v
     WHERE v.subject_id = (SELECT c.subject_id FROM countersign.customer c WHERE c.customer_id = p_customer)
       AND v.id >= countersign.uuid7_floor(p_from) AND v.id < countersign.uuid7_floor(p_until)
     ORDER BY v.id
$$;

-- 2. Everything that a credential has signed.
CREATE FUNCTION audit_of_credential(p_credential uuid)
RETURNS SETOF audit_evidence LANGUAGE sql STABLE AS $$
    SELECT v.* FROM countersign.audit_evidence v
     WHERE v.credential_id = p_credential
       AND v.kind IN ('action.approved', 'action.rejected', 'action.refused', 'credential.authorized')
     ORDER BY v.id
$$;

-- 3. All approvals under a version of the policy.
CREATE FUNCTION audit_of_policy(p_version int)
RETURNS SETOF audit_evidence LANGUAGE sql STABLE AS $$
    SELECT v.* FROM countersign.audit_evidence v
     WHERE v.policy_digest = (SELECT encode(p.digest, 'hex') FROM countersign.policy p WHERE p.version = p_version)
       AND v.kind = 'action.approved'
     ORDER BY v.id
$$;

-- 4. All approvals of a period that were executed: with a hold, or without one.
CREATE FUNCTION audit_executed(p_with_hold boolean, p_from timestamptz, p_until timestamptz)
RETURNS TABLE (action_id uuid, evidence_id uuid, decided_at timestamptz, hold_rule text, hold_until timestamptz,
    receipt_evidence_id uuid, reference text, executed_at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT d.action_id, d.evidence_id, d.decided_at, d.hold_rule, d.hold_until, r.evidence_id, r.reference,
           r.received_at
      FROM countersign.decision d
      JOIN countersign.receipt r ON r.action_id = d.action_id AND r.status = 'executed'
     WHERE d.outcome = 'approved' AND d.decided_at >= p_from AND d.decided_at < p_until
       AND (CASE WHEN p_with_hold THEN d.hold_rule IS NOT NULL ELSE d.hold_rule IS NULL END)
     ORDER BY d.decided_at
$$;

-- 5. What was approved in a period and not executed, with where it stands ('approved'), and what core banking
-- says it has executed and nobody approved ('executed'): the schema forbids that, so one row is tampering.
-- Against core banking's own list: countersign evidence reconcile.
CREATE FUNCTION audit_mismatched(p_from timestamptz, p_until timestamptz)
RETURNS TABLE (found text, action_id uuid, evidence_id uuid, at timestamptz, execution text, receipt text)
LANGUAGE sql STABLE AS $$
    SELECT 'approved', d.action_id, d.evidence_id, d.decided_at, a.execution, r.status
      FROM countersign.decision d
      JOIN countersign.action a ON a.id = d.action_id
      LEFT JOIN countersign.receipt r ON r.action_id = d.action_id
     WHERE d.outcome = 'approved' AND d.decided_at >= p_from AND d.decided_at < p_until
       AND r.status IS DISTINCT FROM 'executed'
    UNION ALL
    SELECT 'executed', v.action_id, v.id, v.recorded_at, a.execution, r.status
      FROM countersign.evidence v
      LEFT JOIN countersign.action a ON a.id = v.action_id
      LEFT JOIN countersign.receipt r ON r.action_id = v.action_id
     WHERE v.kind = 'order.executed' AND v.id >= countersign.uuid7_floor(p_from)
       AND v.id < countersign.uuid7_floor(p_until)
       AND NOT EXISTS (SELECT FROM countersign.decision d
                        WHERE d.action_id = v.action_id AND d.outcome = 'approved')
$$;

-- The records that match every member of a filter, oldest first, of which p_after is not one: their IDs. What is
-- not in the filter is not in the statement, so that each one is planned for what was asked.
CREATE FUNCTION find_evidence(p_filter jsonb, p_after uuid, p_limit int) RETURNS SETOF uuid
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
    RETURN QUERY EXECUTE 'SELECT e.id FROM evidence e WHERE '
        || coalesce(nullif(array_to_string(rules, ' AND '), ''), 'true') || format(' ORDER BY e.id LIMIT %s', p_limit);
END $$;

-- What is in a month of evidence, before it is detached. NULL positions when one record has none yet in a
-- published checkpoint.
CREATE FUNCTION evidence_month(p_month date, OUT records bigint, OUT first_position bigint, OUT last_position bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    missing bigint;
BEGIN
    SELECT count(*), min(l.position), max(l.position), count(*) FILTER (WHERE l.position IS NULL)
      INTO records, first_position, last_position, missing
      FROM evidence e
      LEFT JOIN log_leaf l ON l.evidence_id = e.id AND l.position < (SELECT published FROM log_state)
     WHERE e.id >= uuid7_floor(p_month::timestamp AT TIME ZONE 'UTC')
       AND e.id < uuid7_floor((p_month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
    IF missing > 0 THEN
        first_position := NULL;
        last_position := NULL;
    END IF;
END $$;

-- Detaches the oldest month of evidence: its table stays, under its name, for whoever keeps it elsewhere and drops
-- it. Its leaf hashes, positions and tiles stay too. 'detached', or why not: 'unknown' (no such month, or not the
-- oldest), 'retention', 'unsequenced' (not every record is in a published checkpoint), 'legal_hold' (on a
-- customer with a record in it), 'lost_race'.
CREATE FUNCTION detach_evidence_month(p_month date, p_retention_days int, p_records bigint, p_first bigint,
    p_last bigint, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    name text := format('evidence_%s', to_char(p_month, 'YYYY_MM'));
    bounds uuid[] := ARRAY[uuid7_floor(p_month::timestamp AT TIME ZONE 'UTC'),
        uuid7_floor((p_month + interval '1 month')::timestamp AT TIME ZONE 'UTC')];
    found record;
BEGIN
    IF (p_retention_days >= evidence_retention_min()) IS NOT TRUE THEN
        RAISE EXCEPTION 'evidence is kept for longer' USING ERRCODE = 'CS001';
    END IF;
    PERFORM pg_advisory_xact_lock(7002, 1);
    IF oldest_evidence() IS DISTINCT FROM bounds[1] THEN
        RETURN 'unknown';
    END IF;
    IF (p_month + interval '1 month')::timestamp AT TIME ZONE 'UTC' + make_interval(days => p_retention_days)
        > clock_timestamp() THEN
        RETURN 'retention';
    END IF;
    SELECT * INTO found FROM evidence_month(p_month);
    IF found.records > 0 AND found.first_position IS NULL THEN
        RETURN 'unsequenced';
    END IF;
    IF EXISTS (SELECT FROM legal_hold h JOIN evidence e ON e.subject_id = h.subject_id
                WHERE h.lifted_at IS NULL AND e.id >= bounds[1] AND e.id < bounds[2]) THEN
        RETURN 'legal_hold';
    END IF;
    IF (found.records, found.first_position, found.last_position) IS DISTINCT FROM (p_records, p_first, p_last) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_one(p_evidence, 'evidence.detached', '00000000-0000-0000-0000-000000000000');
    IF convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome'
        IS DISTINCT FROM to_char(p_month, 'YYYY-MM') THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
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
END $$;
RESET ROLE;

REVOKE EXECUTE ON FUNCTION countersign.evidence_month, countersign.detach_evidence_month FROM PUBLIC;
GRANT EXECUTE ON FUNCTION countersign.evidence_month, countersign.detach_evidence_month TO countersign_operator;
GRANT SELECT ON countersign.audit_evidence, countersign.audit_checkpoint, countersign.audit_unsequenced,
    countersign.decision, countersign.receipt TO countersign_auditor;
-- Without names, accounts and references: those are in the bodies, for whoever has the key.
GRANT SELECT (id, subject_id, client_id, external_id, kind, amount, currency, policy_version, "authorization", execution, hold_until,
    hold_rule, created_at, expires_at, erased_at) ON countersign.action TO countersign_auditor;
GRANT EXECUTE ON FUNCTION countersign.leaf_member, countersign.find_evidence, countersign.audit_of_customer,
    countersign.audit_of_credential, countersign.audit_of_policy, countersign.audit_executed,
    countersign.audit_mismatched TO countersign_auditor, countersign_service, countersign_operator;
-- An index is kept by whoever writes.
GRANT EXECUTE ON FUNCTION countersign.leaf_member TO countersign_definer, countersign_eraser;
