-- Makes the customer known, if it is not. Always one row.
--   $1 customer_id, $2 a fresh subject_id, $3 its wrapped data key
SELECT countersign.ensure_customer($1, $2, $3);
