-- What removing a payee looks at. Zero rows means that the customer has no such payee.
--   $1 customer_id, $2 payee
SELECT clock_timestamp() AS now, c.subject_id, c.version AS customer_version, k.wrapped, p.account,
       p.name, p.status = 'removed' AS is_removed
  FROM countersign.customer c
  JOIN countersign.subject_key k ON k.subject_id = c.subject_id
  JOIN countersign.payee p ON p.subject_id = c.subject_id AND p.id = $2
 WHERE c.customer_id = $1;
