-- Whether this session leads the log.
SELECT countersign.leads_log() AS leads;
