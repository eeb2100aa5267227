-- A customer's payees that were not removed, oldest first. Zero rows means that there are none.
--   $1 customer_id, $2 currency in which the sum that is left is told
SELECT clock_timestamp() AS now, p.id, p.account, p.name, p.alias, p.usable_at, p.new_until,
       p.first_executed_at, coalesce(fresh.used, 0) AS used_while_new
  FROM countersign.customer c
  JOIN countersign.payee p ON p.subject_id = c.subject_id AND p.status = 'active'
  LEFT JOIN countersign.counter fresh ON fresh.subject_id = c.subject_id
       AND fresh.dimension = 'new_payee:' || p.id || ':' || $2 AND fresh.window_start = '1970-01-01'
 WHERE c.customer_id = $1
 ORDER BY p.confirmed_at, p.id;
