-- Sets a legal hold on a customer. Always one row: set, exists or unknown.
--   $1 subject, $2 evidence (JSON)
SELECT countersign.set_legal_hold($1, $2) AS status;
