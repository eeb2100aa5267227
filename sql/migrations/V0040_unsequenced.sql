-- Records without a position: all of them, also those that no batch will ever take. And a counter of transactions that
-- went backwards is remembered.
-- Deployment: one column with a default, functions and a view. An instance of the version before reads all of evidence for countersign_log_waiting_seconds
-- until it is replaced; nothing waits for that.

ALTER FUNCTION countersign.lock_log OWNER TO countersign_owner;
ALTER FUNCTION countersign.log_is_due OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- What has no position. A record is_due when the next batch takes it: its transaction was not visible in the last
-- batch's snapshot, and there has been such a transaction. Any other was put in behind the sequencer's back, since
-- the service cannot choose a record's transaction; what the last batch saw has its position since that batch.
-- One snapshot decides about all of it, so a record that is just being committed or sequenced is never in doubt.
CREATE OR REPLACE VIEW audit_unsequenced AS
SELECT e.id, e.kind, e.recorded_at, e.subject_id, e.action_id, e.credential_id, e.xid,
       e.xid < pg_snapshot_xmax(pg_current_snapshot())
           AND NOT coalesce(pg_visible_in_snapshot(e.xid, (SELECT s.snapshot FROM log_state s)), false) AS is_due
  FROM evidence e
 WHERE NOT EXISTS (SELECT FROM log_leaf l WHERE l.evidence_id = e.id);

-- Whether the counter of transactions was seen to be behind the log, as where a dump was restored elsewhere. Once it
-- has caught up nothing else shows that, but what was recorded until then has transactions that the log has behind it:
-- no batch would take it, and each later checkpoint would claim to hold it.
ALTER TABLE log_state ADD COLUMN rewound boolean NOT NULL DEFAULT false;

-- Remembers that, where it is so.
CREATE FUNCTION note_rewound() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE log_state SET rewound = true
     WHERE NOT rewound AND pg_snapshot_xmax(snapshot) > pg_snapshot_xmax(pg_current_snapshot());
END $$;

-- As in V0035, and what was remembered counts.
CREATE OR REPLACE FUNCTION lock_log(OUT origin text, OUT size bigint, OUT root bytea, OUT edge bytea[], OUT note bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    s log_state;
BEGIN
    IF current_setting('transaction_isolation') NOT IN ('repeatable read', 'serializable') THEN
        RAISE EXCEPTION 'a batch is read in one snapshot' USING ERRCODE = 'CS009';
    END IF;
    SELECT * INTO s FROM log_state FOR UPDATE;
    -- A dump that was restored elsewhere begins to count transactions anew, and no snapshot means anything. The ends
    -- are compared, since the beginning may be old; what is counted on never ends below where it has ended.
    IF s.rewound OR pg_snapshot_xmax(s.snapshot) > pg_snapshot_xmax(pg_current_snapshot()) THEN
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

-- As in V0035, and what was remembered counts.
CREATE OR REPLACE FUNCTION log_is_due() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    last pg_snapshot := (SELECT snapshot FROM log_state);
BEGIN
    RETURN last IS NULL
        -- lock_log says what is wrong.
        OR (SELECT rewound FROM log_state)
        OR pg_snapshot_xmax(last) > pg_snapshot_xmax(pg_current_snapshot())
        OR EXISTS (SELECT FROM evidence e WHERE e.xid >= pg_snapshot_xmax(last))
        OR EXISTS (SELECT FROM evidence e WHERE e.xid = ANY (ARRAY(SELECT x FROM pg_snapshot_xip(last) x))
                      AND NOT EXISTS (SELECT FROM log_leaf l WHERE l.evidence_id = e.id));
END $$;

RESET ROLE;

GRANT UPDATE (rewound) ON countersign.log_state TO countersign_definer;
ALTER FUNCTION countersign.lock_log OWNER TO countersign_definer;
ALTER FUNCTION countersign.log_is_due OWNER TO countersign_definer;
ALTER FUNCTION countersign.note_rewound OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.note_rewound TO countersign_service;
