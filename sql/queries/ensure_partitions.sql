-- Makes the partitions of evidence for this month and the three after it. Always one row.
SELECT countersign.ensure_evidence_partitions(3);
