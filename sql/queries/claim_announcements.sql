-- Leases announcements of keys that are due. Zero rows means that none is due.
--   $1 how many at most, $2 length of the lease
SELECT n.credential_id, n.lease_token, n.attempt, n.first_attempt_at,
       clock_timestamp() AS claimed_at, c.customer_id, cr.kind, cr.public_key, cr.created_at,
       cr.signature_format, cr.evidence_id
  FROM countersign.claim_announcements($1, $2) n
  JOIN countersign.credential cr ON cr.id = n.credential_id
  JOIN countersign.customer c ON c.subject_id = cr.subject_id;
