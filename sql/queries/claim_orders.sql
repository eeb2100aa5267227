-- Leases orders that are due and tells all that is delivered. Zero rows means that none is due.
--   $1 how many at most, $2 length of the lease
SELECT o.action_id, o.lease_token, o.attempt, o.first_attempt_at, clock_timestamp() AS claimed_at,
       a.execution, c.customer_id, d.decided_at, d.evidence_id, d.leaf_hash, e.message,
       e.signature, e.client_data_json, e.authenticator_data, cr.id AS credential_id, cr.kind,
       cr.public_key, cr.signature_format
  FROM countersign.claim_orders($1, $2) o
  JOIN countersign.execution_order e ON e.action_id = o.action_id
  JOIN countersign.action a ON a.id = o.action_id
  JOIN countersign.customer c ON c.subject_id = a.subject_id
  JOIN countersign.decision d ON d.action_id = o.action_id
  JOIN countersign.credential cr ON cr.id = d.credential_id;
