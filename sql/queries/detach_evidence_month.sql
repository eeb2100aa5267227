-- Detaches the oldest month of evidence. Always one row: a status, see the function.
--   $1 its first day, $2 days of retention, $3 records, $4 first position, $5 last position, $6 how many are kept,
--   $7 digest of those, $8 evidence (JSON)
SELECT countersign.detach_evidence_month($1::date, $2, $3, $4, $5, $6, $7, $8) AS status;
