-- Evidence: append-only records in monthly partitions, with their encrypted bodies beside them.
-- Deployment: needs a role that may SET ROLE countersign_owner (sql/roles.sql). No lock on old data.

CREATE SCHEMA countersign AUTHORIZATION countersign_owner;
SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;
-- Functions are not public by default in this schema.
ALTER DEFAULT PRIVILEGES FOR ROLE countersign_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- The smallest UUIDv7 of a time: bounds of partitions and of time ranges in queries.
CREATE FUNCTION uuid7_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE TABLE evidence (
    id            uuid NOT NULL,
    -- The transaction that wrote the row: the log's sequencer goes by visibility, not by time or id.
    xid           xid8 NOT NULL DEFAULT pg_current_xact_id(),
    kind          text NOT NULL CONSTRAINT evidence_kind_form CHECK (kind ~ '^[a-z]+(\.[a-z]+)?$'),
    action_id     uuid,
    -- A random stand-in for the customer (table customer); zero for events of the service itself.
    subject_id    uuid NOT NULL,
    credential_id uuid,
    -- The size limit of an entry in a C2SP tlog-tiles log.
    leaf          bytea NOT NULL CONSTRAINT evidence_leaf_size
                  CHECK (octet_length(leaf) BETWEEN 1 AND 65535),
    -- RFC 6962 §2.1: computed by the database, not by the service.
    leaf_hash     bytea NOT NULL GENERATED ALWAYS AS (sha256('\x00'::bytea || leaf)) STORED,
    body_commit   bytea NOT NULL CONSTRAINT evidence_body_commit_size
                  CHECK (octet_length(body_commit) = 32),
    recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT evidence_pkey PRIMARY KEY (id)
) PARTITION BY RANGE (id);
CREATE INDEX evidence_by_xid ON evidence (xid) INCLUDE (id, leaf_hash);
CREATE INDEX evidence_by_action ON evidence (action_id, id) WHERE action_id IS NOT NULL;
CREATE INDEX evidence_by_subject ON evidence (subject_id, id);
CREATE INDEX evidence_by_credential ON evidence (credential_id, id) WHERE credential_id IS NOT NULL;
CREATE INDEX evidence_by_kind ON evidence (kind, id);

-- Personal data: AES-256-GCM under the customer's key, so that destroying the key erases it while
-- every leaf and proof stays valid. No foreign key to evidence: partitions must be detachable.
CREATE TABLE evidence_body (
    evidence_id uuid PRIMARY KEY,
    subject_id  uuid NOT NULL,
    salt        bytea NOT NULL CONSTRAINT evidence_body_salt_size CHECK (octet_length(salt) = 32),
    nonce       bytea NOT NULL CONSTRAINT evidence_body_nonce_size CHECK (octet_length(nonce) = 12),
    ciphertext  bytea NOT NULL
);
CREATE INDEX evidence_body_by_subject ON evidence_body (subject_id);

-- A customer's data key, wrapped by the key-encryption key; NULL once erased.
CREATE TABLE subject_key (
    subject_id uuid PRIMARY KEY,
    wrapped    bytea
);

CREATE FUNCTION forbid_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'append-only: % on %.% is forbidden', tg_op, tg_table_schema, tg_table_name
        USING ERRCODE = 'CS001';
END $$;

-- Forces the columns that a caller must not choose: a forged xid would hide the row from the
-- sequencer for ever, and an old id would slip it into a month already closed.
CREATE FUNCTION stamp_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    id_ms bigint := ('x' || substr(replace(new.id::text, '-', ''), 1, 12))::bit(48)::bigint;
BEGIN
    new.xid := pg_current_xact_id();
    new.recorded_at := clock_timestamp();
    IF substr(new.id::text, 15, 1) <> '7'
        OR abs(id_ms - extract(epoch FROM new.recorded_at) * 1000) > 300000 THEN
        RAISE EXCEPTION 'an evidence id must be a fresh UUIDv7' USING ERRCODE = 'CS002';
    END IF;
    RETURN new;
END $$;

CREATE TRIGGER stamp BEFORE INSERT ON evidence FOR EACH ROW EXECUTE FUNCTION stamp_evidence();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON evidence
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON evidence
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
-- DELETE of a body is erasure, which only a later, separate role will be granted.
CREATE TRIGGER no_change BEFORE UPDATE ON evidence_body
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON evidence_body
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE evidence ENABLE ALWAYS TRIGGER stamp, ENABLE ALWAYS TRIGGER no_change,
    ENABLE ALWAYS TRIGGER no_truncate;
ALTER TABLE evidence_body ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- Makes the partitions of this month and the given number of months after it. Privileges, statement
-- triggers and ENABLE ALWAYS are not inherited by partitions, so each is given its own.
CREATE FUNCTION ensure_evidence_partitions(months_ahead int) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    month date;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock(7002, 1);
    FOR month IN SELECT generate_series(date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC'),
        date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => months_ahead),
        interval '1 month')::date
    LOOP
        name := format('evidence_%s', to_char(month, 'YYYY_MM'));
        CONTINUE WHEN to_regclass('countersign.' || quote_ident(name)) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I PARTITION OF evidence FOR VALUES FROM (%L) TO (%L)', name,
            uuid7_floor(month::timestamp AT TIME ZONE 'UTC'),
            uuid7_floor((month + interval '1 month')::timestamp AT TIME ZONE 'UTC'));
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
            FOR EACH STATEMENT EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_truncate,
            ENABLE ALWAYS TRIGGER stamp, ENABLE ALWAYS TRIGGER no_change', name);
    END LOOP;
END $$;
SELECT ensure_evidence_partitions(3);

-- Writes the entries of one transaction: a JSON array of objects whose bytes are hexadecimal.
-- Not LANGUAGE sql: a function of that language is parsed and planned anew at every call.
CREATE FUNCTION write_evidence(entries jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO evidence (id, kind, action_id, subject_id, credential_id, leaf, body_commit)
    SELECT e.id, e.kind, e.action_id, e.subject_id, e.credential_id,
           decode(e.leaf, 'hex'), decode(e.body_commit, 'hex')
      FROM jsonb_to_recordset(entries)
           AS e (id uuid, kind text, action_id uuid, subject_id uuid, credential_id uuid,
                 leaf text, body_commit text);
    INSERT INTO evidence_body (evidence_id, subject_id, salt, nonce, ciphertext)
    SELECT e.id, e.subject_id, decode(e.salt, 'hex'), decode(e.nonce, 'hex'),
           decode(e.ciphertext, 'hex')
      FROM jsonb_to_recordset(entries)
           AS e (id uuid, subject_id uuid, salt text, nonce text, ciphertext text);
END $$;

-- The last entry of an action among those just written, and how many there were: the new head.
CREATE FUNCTION action_head_of(entries jsonb, action uuid,
    OUT added int, OUT head bytea, OUT last_id uuid)
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    SELECT count(*), (array_agg((x.value ->> 'id')::uuid ORDER BY x.n DESC))[1]
      INTO added, last_id
      FROM jsonb_array_elements(entries) WITH ORDINALITY AS x (value, n)
     WHERE x.value ->> 'action_id' = action::text;
    SELECT leaf_hash INTO head FROM evidence WHERE id = last_id;
END $$;

CREATE FUNCTION credential_head_of(entries jsonb, credential uuid,
    OUT added int, OUT head bytea)
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    last_id uuid;
BEGIN
    SELECT count(*), (array_agg((x.value ->> 'id')::uuid ORDER BY x.n DESC))[1]
      INTO added, last_id
      FROM jsonb_array_elements(entries) WITH ORDINALITY AS x (value, n)
     WHERE x.value ->> 'credential_id' = credential::text;
    SELECT leaf_hash INTO head FROM evidence WHERE id = last_id;
END $$;
RESET ROLE;
