-- Records without a position: all of them, also those that no batch will ever take.
-- Deployment: one view. An instance of the version before reads all of evidence for countersign_log_waiting_seconds
-- until it is replaced; nothing waits for that.

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

RESET ROLE;
