-- A customer's stand-in and data key. Zero rows means that the customer is not known.
--   $1 customer_id
SELECT c.subject_id, k.wrapped, clock_timestamp() AS now
  FROM countersign.customer c JOIN countersign.subject_key k ON k.subject_id = c.subject_id
 WHERE c.customer_id = $1;
