-- Where an order's action stands. Zero rows means that there is no such action.
--   $1 action_id
SELECT clock_timestamp() AS now, a.subject_id, k.wrapped, a.seq, a.head
  FROM countersign.action a JOIN countersign.subject_key k ON k.subject_id = a.subject_id
 WHERE a.id = $1 AND a.erased_at IS NULL;
