-- How many records of detached months are kept. Always one row.
SELECT count(*) AS kept FROM countersign.evidence_kept;
