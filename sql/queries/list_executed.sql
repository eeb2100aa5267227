-- Actions that core banking executed, as it said itself, in the order of their IDs. Zero rows: no more.
--   $1 after this action or NULL, $2 decided not before or NULL, $3 decided before or NULL, $4 limit
SELECT r.action_id, d.evidence_id, r.reference, r.erased_at IS NOT NULL AS is_erased, a.amount, a.currency
  FROM countersign.receipt r
  JOIN countersign.decision d ON d.action_id = r.action_id
  JOIN countersign.action a ON a.id = r.action_id
 WHERE r.status = 'executed' AND ($1::uuid IS NULL OR r.action_id > $1)
   AND ($2::timestamptz IS NULL OR d.decided_at >= $2) AND ($3::timestamptz IS NULL OR d.decided_at < $3)
 ORDER BY r.action_id LIMIT $4;
