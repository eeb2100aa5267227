-- The log: every record of evidence gets a position in one Merkle tree (RFC 6962), whose root is signed.
-- Deployment: new tables and functions; the first batch sequences all evidence there is, see docs/operations.md.
--
-- Order and completeness go by visibility, never by time or id: a batch is what is visible in this tick's
-- snapshot and was not in the last one's. A transaction is visible in the last snapshot (sequenced before),
-- becomes visible now (its xid is not below the last one's xmax, or was in progress then), or is still
-- invisible (a later tick). So nothing is left out, however late it commits, and each checkpoint's stored
-- snapshot says of which records it claims to hold all.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- One row. Only advance_log writes it, so whoever holds its lock is alone.
CREATE TABLE log_state (
    id         boolean PRIMARY KEY DEFAULT true CONSTRAINT log_state_one CHECK (id),
    -- The log's name in every checkpoint and leaf; never changes.
    origin     text NOT NULL CONSTRAINT log_state_origin CHECK (origin ~ '^[^[:space:]+]+$'),
    size       bigint NOT NULL DEFAULT 0,
    root       bytea NOT NULL DEFAULT sha256(''),
    -- For each level of the tree the hashes of its last tile, as long as that is not full.
    edge       bytea[] NOT NULL DEFAULT '{}',
    -- What was visible when the last batch was read; NULL before the first.
    snapshot   pg_snapshot,
    -- The size of the newest checkpoint whose commit was acknowledged: no other may leave the service.
    published  bigint,
    CONSTRAINT log_state_published CHECK (published <= size)
);

CREATE TABLE log_leaf (
    position    bigint PRIMARY KEY CONSTRAINT log_leaf_position CHECK (position >= 0),
    -- No foreign key: months of evidence are detached, and sequencing is five times as fast.
    evidence_id uuid NOT NULL CONSTRAINT log_leaf_evidence UNIQUE,
    leaf_hash   bytea NOT NULL CONSTRAINT log_leaf_hash_size CHECK (octet_length(leaf_hash) = 32)
);

-- Full tiles only; the others are in the edge.
CREATE TABLE log_tile (
    level  smallint NOT NULL CONSTRAINT log_tile_level CHECK (level BETWEEN 0 AND 7),
    index  bigint NOT NULL CONSTRAINT log_tile_index CHECK (index >= 0),
    hashes bytea NOT NULL CONSTRAINT log_tile_size CHECK (octet_length(hashes) = 8192),
    PRIMARY KEY (level, index)
);

CREATE TABLE log_checkpoint (
    size     bigint PRIMARY KEY,
    root     bytea NOT NULL CONSTRAINT log_checkpoint_root_size CHECK (octet_length(root) = 32),
    snapshot pg_snapshot NOT NULL,
    -- The signed note (C2SP tlog-checkpoint), byte for byte.
    note     bytea NOT NULL
);

-- What others say of checkpoints: witnesses that it is consistent with all they have seen.
CREATE TABLE log_cosignature (
    size         bigint NOT NULL REFERENCES log_checkpoint,
    witness      text NOT NULL,
    cosigned_at  timestamptz NOT NULL,
    -- One signature line of a signed note, with its line feed.
    line         text NOT NULL,
    PRIMARY KEY (size, witness, cosigned_at)
);

-- And authorities at what time it was there (RFC 3161).
CREATE TABLE log_timestamp (
    size       bigint NOT NULL REFERENCES log_checkpoint,
    authority  text NOT NULL,
    stamped_at timestamptz NOT NULL,
    -- The TimeStampResp over the note without cosignatures, byte for byte.
    response   bytea NOT NULL,
    PRIMARY KEY (size, authority)
);

-- The keys that sign checkpoints, each with the record that tells of it.
CREATE TABLE log_key (
    verifier_key text PRIMARY KEY,
    evidence_id  uuid NOT NULL CONSTRAINT log_key_evidence UNIQUE
);

-- A log only grows, and one size has one root.
CREATE FUNCTION guard_log_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.origin <> old.origin OR new.size < old.size OR new.published < old.published
        OR new.size = old.size AND new.root <> old.root THEN
        RAISE EXCEPTION 'the log only grows' USING ERRCODE = 'CS001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON log_state FOR EACH ROW EXECUTE FUNCTION guard_log_state();
CREATE TRIGGER no_change BEFORE DELETE ON log_state FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log_state
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE log_state ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_change,
    ENABLE ALWAYS TRIGGER no_truncate;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY
        ARRAY['log_leaf', 'log_tile', 'log_checkpoint', 'log_cosignature', 'log_timestamp', 'log_key'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON %I
            FOR EACH ROW EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
            FOR EACH STATEMENT EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_change,
            ENABLE ALWAYS TRIGGER no_truncate', name);
    END LOOP;
END $$;

-- Whether this session leads.
CREATE FUNCTION leads_log() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
                   AND classid = 7003 AND objid = 1 AND granted AND database
                       = (SELECT oid FROM pg_database WHERE datname = current_database()));
END $$;

-- Whether this session leads: at most one does. The lock is for efficiency alone, and dies with the session
-- that writes. 'new' when it did not lead before, so that it has to look at what is held outside first.
CREATE FUNCTION lead_log() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF countersign.leads_log() THEN
        RETURN 'leader';
    END IF;
    RETURN CASE WHEN pg_try_advisory_lock(7003, 1) THEN 'new' ELSE 'follower' END;
END $$;

-- Opens the log under its name, when it is not open yet.
CREATE FUNCTION open_log(p_origin text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO log_state (origin) VALUES (p_origin) ON CONFLICT DO NOTHING;
END $$;

-- Tells of a key, once.
CREATE FUNCTION announce_log_key(p_key text, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_service_evidence(p_evidence, ARRAY['log.key']);
    INSERT INTO log_key (verifier_key, evidence_id)
    VALUES (p_key, (p_evidence -> 0 ->> 'id')::uuid) ON CONFLICT (verifier_key) DO NOTHING;
    IF FOUND THEN
        PERFORM write_evidence(p_evidence);
    END IF;
END $$;

-- Locks the log for this transaction, which has to be of one snapshot: REPEATABLE READ. It fails with 40001
-- when another leader has gone on since.
CREATE FUNCTION lock_log(OUT origin text, OUT size bigint, OUT edge bytea[],
    OUT is_new boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    s log_state;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('repeatable read', 'serializable') THEN
        RAISE EXCEPTION 'a batch is read in one snapshot' USING ERRCODE = 'CS009';
    END IF;
    SELECT * INTO s FROM log_state FOR UPDATE;
    -- A dump that was restored elsewhere begins to count transactions anew, and no snapshot means anything.
    IF pg_snapshot_xmin(s.snapshot) > pg_snapshot_xmax(pg_current_snapshot()) THEN
        RAISE EXCEPTION 'the counter of transactions went backwards' USING ERRCODE = 'CS010';
    END IF;
    origin := s.origin;
    size := s.size;
    edge := s.edge;
    is_new := NOT EXISTS (SELECT FROM log_checkpoint c WHERE c.size = s.size);
END $$;

-- What this transaction's snapshot shows and the last batch's did not, in its order: if a record was
-- acknowledged before another one was begun, it comes first.
CREATE FUNCTION log_batch() RETURNS TABLE (evidence_id uuid, leaf_hash bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    last pg_snapshot := (SELECT snapshot FROM log_state);
    now pg_snapshot := pg_current_snapshot();
BEGIN
    IF last IS NULL THEN
        RETURN QUERY SELECT e.id, e.leaf_hash FROM evidence e
             WHERE pg_visible_in_snapshot(e.xid, now) ORDER BY e.xid, e.id;
        RETURN;
    END IF;
    RETURN QUERY SELECT b.id, b.hash FROM (
            SELECT e.xid, e.id, e.leaf_hash AS hash FROM evidence e
             WHERE e.xid >= pg_snapshot_xmax(last) AND e.xid < pg_snapshot_xmax(now)
               AND pg_visible_in_snapshot(e.xid, now)
            UNION ALL
            SELECT e.xid, e.id, e.leaf_hash FROM evidence e
             WHERE e.xid = ANY (ARRAY(SELECT x FROM pg_snapshot_xip(last) x))
               AND pg_visible_in_snapshot(e.xid, now)) b
         ORDER BY b.xid, b.id;
END $$;

-- Writes a batch: the records are read again in the same snapshot, so they are those of log_batch. Root, edge
-- and tiles are the caller's; fsck and every verifier make them again.
CREATE FUNCTION advance_log(p_size bigint, p_new_size bigint, p_root bytea, p_edge bytea[],
    p_levels smallint[], p_indexes bigint[], p_tiles bytea[], p_note bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    written bigint;
BEGIN
    INSERT INTO log_leaf (position, evidence_id, leaf_hash)
    SELECT p_size - 1 + b.n, b.evidence_id, b.leaf_hash
      FROM log_batch() WITH ORDINALITY AS b (evidence_id, leaf_hash, n);
    GET DIAGNOSTICS written = ROW_COUNT;
    IF p_size + written <> p_new_size THEN
        RAISE EXCEPTION 'the batch has another size' USING ERRCODE = 'CS009';
    END IF;
    UPDATE log_state SET size = p_new_size, root = p_root, edge = p_edge,
           snapshot = pg_current_snapshot() WHERE size = p_size;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the log has gone on' USING ERRCODE = '40001';
    END IF;
    INSERT INTO log_tile (level, index, hashes)
    SELECT * FROM unnest(p_levels, p_indexes, p_tiles);
    INSERT INTO log_checkpoint (size, root, snapshot, note)
    VALUES (p_new_size, p_root, pg_current_snapshot(), p_note);
END $$;

-- The commit of this checkpoint was acknowledged. In a transaction of its own: whoever sees the mark sees a
-- checkpoint that cannot be lost any more, also where a standby has to confirm.
CREATE FUNCTION publish_log(p_size bigint, p_note bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    -- Another server than the one that acknowledged it, after a failover, may not have it.
    UPDATE log_state SET published = p_size
     WHERE coalesce(published, -1) < p_size
       AND EXISTS (SELECT FROM log_checkpoint c WHERE c.size = p_size AND c.note = p_note);
    RETURN FOUND;
END $$;

-- The smallest ID that a record may have that was not detached with its month.
CREATE FUNCTION oldest_evidence() RETURNS uuid
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT uuid7_floor(min(to_date(substr(c.relname, 10), 'YYYY_MM'))::timestamp AT TIME ZONE 'UTC')
              FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'countersign.evidence'::regclass);
END $$;

-- What a checkpoint claims, counted: all 0 when it is true. Records in a month that was detached are counted
-- in no column.
--   unsequenced  visible in its snapshot, and at no position below its size
--   missing      at a position below its size, and no record: somebody deleted it
--   altered      at such a position with another leaf
CREATE FUNCTION audit_completeness(p_size bigint, OUT unsequenced bigint, OUT missing bigint, OUT altered bigint)
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    claimed pg_snapshot := (SELECT snapshot FROM log_checkpoint WHERE size = p_size);
    oldest uuid := oldest_evidence();
BEGIN
    IF claimed IS NULL THEN
        RAISE EXCEPTION 'no checkpoint has this size' USING ERRCODE = 'CS009';
    END IF;
    SELECT count(*) INTO unsequenced FROM evidence e
     WHERE (pg_visible_in_snapshot(e.xid, claimed)
            -- No transaction has such a number yet: no batch would ever show the record.
            OR e.xid >= pg_snapshot_xmax(pg_current_snapshot()))
       AND NOT EXISTS (SELECT FROM log_leaf l WHERE l.evidence_id = e.id AND l.position < p_size);
    SELECT count(*) FILTER (WHERE e.id IS NULL),
           count(*) FILTER (WHERE e.leaf_hash <> l.leaf_hash OR e.leaf_hash <> sha256('\x00' || e.leaf))
      INTO missing, altered
      FROM log_leaf l LEFT JOIN evidence e ON e.id = l.evidence_id
     WHERE l.position < p_size AND l.evidence_id >= oldest;
    -- A position that was deleted with its record is missing, too.
    missing := missing + p_size - (SELECT count(*) FROM log_leaf WHERE position < p_size);
END $$;

RESET ROLE;

GRANT SELECT ON countersign.log_state, countersign.log_leaf, countersign.log_tile,
    countersign.log_checkpoint, countersign.log_cosignature, countersign.log_timestamp,
    countersign.log_key TO countersign_definer, countersign_service, countersign_auditor;
GRANT INSERT ON countersign.log_state, countersign.log_leaf, countersign.log_tile,
    countersign.log_checkpoint, countersign.log_key TO countersign_definer;
GRANT UPDATE (size, root, edge, snapshot, published) ON countersign.log_state TO countersign_definer;
ALTER FUNCTION countersign.open_log OWNER TO countersign_definer;
ALTER FUNCTION countersign.announce_log_key OWNER TO countersign_definer;
ALTER FUNCTION countersign.lock_log OWNER TO countersign_definer;
ALTER FUNCTION countersign.log_batch OWNER TO countersign_definer;
ALTER FUNCTION countersign.advance_log OWNER TO countersign_definer;
ALTER FUNCTION countersign.publish_log OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.leads_log, countersign.lead_log, countersign.open_log, countersign.announce_log_key, countersign.lock_log,
    countersign.log_batch, countersign.advance_log, countersign.publish_log TO countersign_service;
GRANT EXECUTE ON FUNCTION countersign.audit_completeness, countersign.oldest_evidence, countersign.uuid7_floor
    TO countersign_service, countersign_auditor;
-- The functions of triggers run as the definer.
GRANT EXECUTE ON FUNCTION countersign.guard_log_state, countersign.forbid_change TO countersign_definer;
