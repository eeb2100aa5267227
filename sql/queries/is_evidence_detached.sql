-- Whether any month was detached, and whether a record is of one that was. Always one row.
--   $1 evidence id
SELECT any_month, is_detached FROM countersign.is_evidence_detached($1);
