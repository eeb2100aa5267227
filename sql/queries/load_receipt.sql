-- Where an order stands, and what core banking said of it. Zero rows means that there is no such order.
--   $1 action
SELECT clock_timestamp() AS now, a.subject_id, k.wrapped, a.seq, a.head, r.status, r.reference, r.reason,
       r.received_at
  FROM countersign.action a
  JOIN countersign.execution_order o ON o.action_id = a.id
  JOIN countersign.subject_key k ON k.subject_id = a.subject_id
  LEFT JOIN countersign.receipt r ON r.action_id = a.id
 WHERE a.id = $1 AND a.erased_at IS NULL;
