-- Lifts the legal hold on a customer. Always one row: lifted, none or unknown.
--   $1 subject, $2 evidence (JSON)
SELECT countersign.lift_legal_hold($1, $2) AS status;
