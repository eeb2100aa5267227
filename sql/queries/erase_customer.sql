-- Erases a customer. Always one row: a status, see the function.
--   $1 subject, $2 the customer's version, $3 days of retention, $4 records of the service itself (uuid[]),
--   $5 evidence (JSON)
SELECT countersign.erase_customer($1, $2, $3, $4::uuid[], $5) AS status;
