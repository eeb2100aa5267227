-- Whether this session leads the log: leader, new or follower.
SELECT countersign.lead_log() AS lead;
