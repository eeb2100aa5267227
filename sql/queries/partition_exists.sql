-- Whether the partition of evidence two months ahead is there. Always one row.
SELECT to_regclass('countersign.evidence_' || to_char(
    (clock_timestamp() AT TIME ZONE 'UTC') + interval '2 months', 'YYYY_MM')) IS NOT NULL AS present;
