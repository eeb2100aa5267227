-- What a month of evidence holds. Always one row; without positions when one record has none that is published.
--   $1 its first day
SELECT records, first_position, last_position, kept, kept_digest FROM countersign.evidence_month($1::date);
