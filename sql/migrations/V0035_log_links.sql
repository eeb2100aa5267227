-- What surrounds the tree is linked, so that a changed, deleted or added row of it is found; a batch has a
-- largest size; a key of the log stands in its leaf.
-- Deployment: adds two columns to three tables of the log and fills them, which rewrites their rows once.
--
-- Leaves and tiles are made again from records, and roots are signed. Checkpoints, cosignatures and timestamps
-- come after what is signed: so each of their rows has a number without gaps and a digest of itself and of all
-- before it, and log_chain says where that ends. Like every check inside of one database it finds whoever did not
-- change all of it; against the others stand mirror, witnesses and authorities.

ALTER FUNCTION countersign.record_cosignature OWNER TO countersign_owner;
ALTER FUNCTION countersign.record_timestamp OWNER TO countersign_owner;
ALTER FUNCTION countersign.announce_log_key OWNER TO countersign_owner;
ALTER FUNCTION countersign.log_batch OWNER TO countersign_owner;
ALTER FUNCTION countersign.advance_log OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

CREATE TABLE log_chain (
    name   text PRIMARY KEY CONSTRAINT log_chain_name CHECK (name IN ('checkpoint', 'cosignature', 'timestamp')),
    -- The number of the last row and its link.
    length bigint NOT NULL DEFAULT 0,
    link   bytea NOT NULL DEFAULT '',
    CONSTRAINT log_chain_link_size CHECK (octet_length(link) = CASE length WHEN 0 THEN 0 ELSE 32 END)
);
INSERT INTO log_chain (name) VALUES ('checkpoint'), ('cosignature'), ('timestamp');
ALTER TABLE log_checkpoint ADD COLUMN number bigint, ADD COLUMN link bytea;
ALTER TABLE log_cosignature ADD COLUMN number bigint, ADD COLUMN link bytea;
ALTER TABLE log_timestamp ADD COLUMN number bigint, ADD COLUMN link bytea;

-- SHA-256 of the link before, and of the columns as text with a line feed between. Source:
-- docs/evidence-format.md.
CREATE FUNCTION log_link(before bytea, VARIADIC columns text[]) RETURNS bytea
LANGUAGE sql IMMUTABLE SET search_path = countersign, pg_temp AS $$
    SELECT sha256(before || convert_to(array_to_string(columns, E'\n'), 'UTF8'))
$$;

-- A time as it is linked.
CREATE FUNCTION microseconds(at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = countersign, pg_temp AS $$
    SELECT (extract(epoch FROM at) * 1000000)::bigint::text
$$;

-- The next link of a chain, whose row it locks until the end of the transaction.
CREATE FUNCTION next_link(p_name text, VARIADIC columns text[], OUT number bigint, OUT link bytea)
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    last log_chain;
BEGIN
    SELECT * INTO STRICT last FROM log_chain WHERE name = p_name FOR UPDATE;
    number := last.length + 1;
    link := log_link(last.link, VARIADIC number::text || columns);
END $$;

CREATE FUNCTION extend_chain(p_name text, p_number bigint, p_link bytea) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE log_chain SET length = p_number, link = p_link WHERE name = p_name AND length = p_number - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the log has gone on' USING ERRCODE = '40001';
    END IF;
END $$;

-- What was there before this.
ALTER TABLE log_checkpoint DISABLE TRIGGER no_change;
ALTER TABLE log_cosignature DISABLE TRIGGER no_change;
ALTER TABLE log_timestamp DISABLE TRIGGER no_change;
DO $$
DECLARE
    c log_checkpoint;
    k log_cosignature;
    t log_timestamp;
    linked record;
BEGIN
    FOR c IN SELECT * FROM log_checkpoint ORDER BY size LOOP
        linked := next_link('checkpoint', c.size::text, encode(c.root, 'hex'), c.snapshot::text,
                          encode(c.note, 'hex'));
        UPDATE log_checkpoint SET number = linked.number, link = linked.link WHERE size = c.size;
        PERFORM extend_chain('checkpoint', linked.number, linked.link);
    END LOOP;
    FOR k IN SELECT * FROM log_cosignature ORDER BY size, cosigned_at, witness LOOP
        linked := next_link('cosignature', k.size::text, k.witness, microseconds(k.cosigned_at), k.line);
        UPDATE log_cosignature SET number = linked.number, link = linked.link
         WHERE (size, witness, cosigned_at) = (k.size, k.witness, k.cosigned_at);
        PERFORM extend_chain('cosignature', linked.number, linked.link);
    END LOOP;
    FOR t IN SELECT * FROM log_timestamp ORDER BY size, authority LOOP
        linked := next_link('timestamp', t.size::text, t.authority, microseconds(t.stamped_at),
                          encode(t.response, 'hex'));
        UPDATE log_timestamp SET number = linked.number, link = linked.link
         WHERE (size, authority) = (t.size, t.authority);
        PERFORM extend_chain('timestamp', linked.number, linked.link);
    END LOOP;
END $$;
ALTER TABLE log_checkpoint ENABLE ALWAYS TRIGGER no_change, ALTER COLUMN number SET NOT NULL,
    ALTER COLUMN link SET NOT NULL, ADD CONSTRAINT log_checkpoint_number UNIQUE (number),
    ADD CONSTRAINT log_checkpoint_size CHECK (size >= 0);
ALTER TABLE log_cosignature ENABLE ALWAYS TRIGGER no_change, ALTER COLUMN number SET NOT NULL,
    ALTER COLUMN link SET NOT NULL, ADD CONSTRAINT log_cosignature_number UNIQUE (number);
ALTER TABLE log_timestamp ENABLE ALWAYS TRIGGER no_change, ALTER COLUMN number SET NOT NULL,
    ALTER COLUMN link SET NOT NULL, ADD CONSTRAINT log_timestamp_number UNIQUE (number);

-- A chain only grows, by one.
CREATE FUNCTION guard_log_chain() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.name <> old.name OR new.length <> old.length + 1 THEN
        RAISE EXCEPTION 'the log only grows' USING ERRCODE = 'CS001';
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON log_chain FOR EACH ROW EXECUTE FUNCTION guard_log_chain();
CREATE TRIGGER no_change BEFORE DELETE ON log_chain FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON log_chain FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE log_chain ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER no_change,
    ENABLE ALWAYS TRIGGER no_truncate;

-- As in V0031, linked.
CREATE OR REPLACE FUNCTION record_cosignature(p_size bigint, p_witness text, p_cosigned_at timestamptz,
    p_line text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    linked record := next_link('cosignature', p_size::text, p_witness, microseconds(p_cosigned_at), p_line);
BEGIN
    PERFORM demand_published(p_size);
    INSERT INTO log_cosignature (size, witness, cosigned_at, line, number, link)
    VALUES (p_size, p_witness, p_cosigned_at, p_line, linked.number, linked.link)
    ON CONFLICT (size, witness, cosigned_at) DO NOTHING;
    IF FOUND THEN
        PERFORM extend_chain('cosignature', linked.number, linked.link);
    END IF;
END $$;

CREATE OR REPLACE FUNCTION record_timestamp(p_size bigint, p_authority text, p_stamped_at timestamptz,
    p_response bytea) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    linked record := next_link('timestamp', p_size::text, p_authority, microseconds(p_stamped_at),
                             encode(p_response, 'hex'));
BEGIN
    PERFORM demand_published(p_size);
    INSERT INTO log_timestamp (size, authority, stamped_at, response, number, link)
    VALUES (p_size, p_authority, p_stamped_at, p_response, linked.number, linked.link)
    ON CONFLICT (size, authority) DO NOTHING;
    IF FOUND THEN
        PERFORM extend_chain('timestamp', linked.number, linked.link);
    END IF;
END $$;

-- As in V0030, and the leaf itself names the key: whoever has the leaves alone knows which keys sign.
CREATE OR REPLACE FUNCTION announce_log_key(p_key text, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_service_evidence(p_evidence, ARRAY['log.key']);
    IF convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome'
        IS DISTINCT FROM p_key THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    INSERT INTO log_key (verifier_key, evidence_id)
    VALUES (p_key, (p_evidence -> 0 ->> 'id')::uuid) ON CONFLICT (verifier_key) DO NOTHING;
    IF FOUND THEN
        PERFORM write_evidence(p_evidence);
    END IF;
END $$;

-- How many records a batch has at most, but that those of one transaction are never parted.
CREATE FUNCTION log_batch_max() RETURNS int LANGUAGE sql IMMUTABLE SET search_path = countersign, pg_temp AS $$
    SELECT 100000
$$;

-- As in V0030, and with what the log was signed for last, so that whoever signs on knows whether this is still it.
DROP FUNCTION lock_log();
CREATE FUNCTION lock_log(OUT origin text, OUT size bigint, OUT root bytea, OUT edge bytea[], OUT note bytea)
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
    root := s.root;
    edge := s.edge;
    -- NULL before the first checkpoint, which the chain knows whoever deletes rows.
    note := (SELECT c.note FROM log_checkpoint c WHERE c.size = s.size);
    IF note IS NULL AND (SELECT length > 0 FROM log_chain WHERE name = 'checkpoint') THEN
        RAISE EXCEPTION 'the newest checkpoint is gone' USING ERRCODE = 'CS015';
    END IF;
END $$;

-- Whether there is anything that no batch has: a read, so that an idle log writes nothing.
CREATE FUNCTION log_is_due() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    last pg_snapshot := (SELECT snapshot FROM log_state);
BEGIN
    RETURN last IS NULL
        -- lock_log says what is wrong.
        OR pg_snapshot_xmin(last) > pg_snapshot_xmax(pg_current_snapshot())
        OR EXISTS (SELECT FROM evidence e WHERE e.xid >= pg_snapshot_xmax(last))
        OR EXISTS (SELECT FROM evidence e WHERE e.xid = ANY (ARRAY(SELECT x FROM pg_snapshot_xip(last) x))
                      AND NOT EXISTS (SELECT FROM log_leaf l WHERE l.evidence_id = e.id));
END $$;

-- What the next batch claims to hold all of: this transaction's snapshot, or as much of it as is one batch. To
-- see less is to see what was visible when the first transaction that is left out had not begun: all before it
-- that had not ended then are still under way, or are in this batch.
CREATE FUNCTION log_claim() RETURNS pg_snapshot
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    from_xid xid8 := coalesce((SELECT pg_snapshot_xmax(snapshot) FROM log_state), '0');
    now pg_snapshot := pg_current_snapshot();
    first xid8;
    cut xid8;
BEGIN
    SELECT e.xid INTO cut FROM evidence e WHERE e.xid >= from_xid AND e.xid < pg_snapshot_xmax(now)
        AND pg_visible_in_snapshot(e.xid, now) ORDER BY e.xid OFFSET log_batch_max() LIMIT 1;
    IF cut IS NULL THEN
        RETURN now;
    END IF;
    SELECT e.xid INTO first FROM evidence e WHERE e.xid >= from_xid AND e.xid < pg_snapshot_xmax(now)
        AND pg_visible_in_snapshot(e.xid, now) ORDER BY e.xid LIMIT 1;
    IF cut = first THEN
        cut := (cut::text::numeric + 1)::text::xid8;
    END IF;
    RETURN format('%s:%s:%s', least(pg_snapshot_xmin(now)::text::numeric, cut::text::numeric), cut,
        (SELECT string_agg(x::text, ',' ORDER BY x) FROM pg_snapshot_xip(now) x WHERE x < cut))::pg_snapshot;
END $$;

-- As in V0030, up to what the batch claims.
CREATE OR REPLACE FUNCTION log_batch() RETURNS TABLE (evidence_id uuid, leaf_hash bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    last pg_snapshot := (SELECT snapshot FROM log_state);
    now pg_snapshot := log_claim();
BEGIN
    IF last IS NULL THEN
        RETURN QUERY SELECT e.id, e.leaf_hash FROM evidence e
             WHERE e.xid < pg_snapshot_xmax(now) AND pg_visible_in_snapshot(e.xid, now) ORDER BY e.xid, e.id;
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

-- As in V0030, linked, and with the snapshot of what the batch claims.
CREATE OR REPLACE FUNCTION advance_log(p_size bigint, p_new_size bigint, p_root bytea, p_edge bytea[],
    p_levels smallint[], p_indexes bigint[], p_tiles bytea[], p_note bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    written bigint;
    -- Of the state as it was: what is written below is not seen by it.
    claim pg_snapshot := log_claim();
    linked record;
BEGIN
    INSERT INTO log_leaf (position, evidence_id, leaf_hash)
    SELECT p_size - 1 + b.n, b.evidence_id, b.leaf_hash
      FROM log_batch() WITH ORDINALITY AS b (evidence_id, leaf_hash, n);
    GET DIAGNOSTICS written = ROW_COUNT;
    IF p_size + written <> p_new_size THEN
        RAISE EXCEPTION 'the batch has another size' USING ERRCODE = 'CS009';
    END IF;
    UPDATE log_state SET size = p_new_size, root = p_root, edge = p_edge, snapshot = claim WHERE size = p_size;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the log has gone on' USING ERRCODE = '40001';
    END IF;
    INSERT INTO log_tile (level, index, hashes)
    SELECT * FROM unnest(p_levels, p_indexes, p_tiles);
    linked := next_link('checkpoint', p_new_size::text, encode(p_root, 'hex'), claim::text, encode(p_note, 'hex'));
    INSERT INTO log_checkpoint (size, root, snapshot, note, number, link)
    VALUES (p_new_size, p_root, claim, p_note, linked.number, linked.link);
    PERFORM extend_chain('checkpoint', linked.number, linked.link);
END $$;

-- As in V0030, by what the partitions hold, whatever they are called.
CREATE OR REPLACE FUNCTION oldest_evidence() RETURNS uuid
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT (substring(pg_get_expr(c.relpartbound, c.oid) FROM 'FROM \(''([0-9a-f-]{36})''\)'))::uuid AS floor
              FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = 'countersign.evidence'::regclass
               AND pg_get_expr(c.relpartbound, c.oid) LIKE 'FOR VALUES FROM (''%'
             ORDER BY floor LIMIT 1);
END $$;

-- The smallest ID that a record has which must be here: of the month after the newest of which a record in the
-- log tells that it was detached, and of none whose partition is here. Months are detached from the oldest on, and
-- each record of it stands in a later month. NULL when none tells of any: then all must be here.
CREATE FUNCTION detached_until() RETURNS uuid
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT CASE WHEN count(*) > 0 THEN least(oldest_evidence(), uuid7_floor(
                       (to_date(max(m.month), 'YYYY-MM') + interval '1 month')::timestamp AT TIME ZONE 'UTC')) END
              FROM (SELECT leaf_member(e.leaf, 'outcome') AS month FROM evidence e
                     WHERE e.kind = 'evidence.detached' AND EXISTS (SELECT FROM log_leaf l
                           WHERE l.evidence_id = e.id AND l.leaf_hash = sha256('\x00' || e.leaf))) m
             WHERE m.month ~ '^[0-9]{4}-(0[1-9]|1[0-2])$');
END $$;

-- As in V0030, but that a month counts as detached by the record of it alone, not since it is not there.
CREATE OR REPLACE FUNCTION audit_completeness(p_size bigint, OUT unsequenced bigint, OUT missing bigint,
    OUT altered bigint) LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    claimed pg_snapshot := (SELECT snapshot FROM log_checkpoint WHERE size = p_size);
    oldest uuid := coalesce(detached_until(), '00000000-0000-0000-0000-000000000000');
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

GRANT SELECT ON countersign.log_chain TO countersign_definer, countersign_service, countersign_auditor;
GRANT UPDATE (length, link) ON countersign.log_chain TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.log_link, countersign.microseconds, countersign.next_link,
    countersign.extend_chain, countersign.log_batch_max, countersign.guard_log_chain TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.microseconds, countersign.detached_until TO countersign_service, countersign_auditor;
ALTER FUNCTION countersign.record_cosignature OWNER TO countersign_definer;
ALTER FUNCTION countersign.record_timestamp OWNER TO countersign_definer;
ALTER FUNCTION countersign.announce_log_key OWNER TO countersign_definer;
ALTER FUNCTION countersign.log_batch OWNER TO countersign_definer;
ALTER FUNCTION countersign.advance_log OWNER TO countersign_definer;
ALTER FUNCTION countersign.lock_log OWNER TO countersign_definer;
ALTER FUNCTION countersign.log_is_due OWNER TO countersign_definer;
ALTER FUNCTION countersign.log_claim OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.lock_log, countersign.log_is_due TO countersign_service;
