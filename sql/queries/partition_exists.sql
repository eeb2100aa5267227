-- Whether the partitions of evidence of this month and of the two after it are there, and are partitions: one that was
-- detached keeps its name. Always one row.
SELECT count(*) = 3 AS present
  FROM generate_series(0, 2) AS ahead
  JOIN pg_inherits i ON i.inhparent = 'countersign.evidence'::regclass AND NOT i.inhdetachpending
   AND i.inhrelid = to_regclass('countersign.evidence_' || to_char(
       (clock_timestamp() AT TIME ZONE 'UTC') + make_interval(months => ahead), 'YYYY_MM'));
