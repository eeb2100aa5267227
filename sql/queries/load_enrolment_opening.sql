-- What opening an enrolment looks at. Zero rows means that the customer is not known yet.
--   $1 customer_id
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT clock.now, p.version AS policy_version, p.digest AS policy_digest,
       p.document AS policy_document, c.subject_id, c.version AS customer_version,
       c.failures AS customer_failures, c.locked_until, k.wrapped,
       countersign.active_passkeys(c.subject_id) AS passkeys,
       (SELECT cr.user_handle FROM countersign.credential cr
         WHERE cr.subject_id = c.subject_id AND cr.kind = 'passkey'
         ORDER BY cr.status = 'active' DESC, cr.created_at DESC LIMIT 1) AS user_handle
  FROM clock
  JOIN countersign.customer c ON c.customer_id = $1
  JOIN countersign.subject_key k ON k.subject_id = c.subject_id
  CROSS JOIN LATERAL (SELECT version, digest, document FROM countersign.policy
                       WHERE active_from <= clock.now ORDER BY version DESC LIMIT 1) p;
