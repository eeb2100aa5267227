-- What a creation looks at. Zero rows means that the customer is not known yet.
--   $1 customer_id, $2 client_id, $3 route, $4 idempotency key,
--   $5 account of the payee or NULL, $6 currency or NULL
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT clock.now, p.version AS policy_version, p.digest AS policy_digest,
       p.document AS policy_document, c.subject_id, k.wrapped,
       i.fingerprint, i.answer, c.contact_hold_until, c.recovered_at,
       (clock.now AT TIME ZONE p.time_zone)::date AS bank_day, state.*,
       countersign.active_passkeys(c.subject_id) AS passkeys
  FROM clock
  JOIN countersign.customer c ON c.customer_id = $1
  JOIN countersign.subject_key k ON k.subject_id = c.subject_id
  CROSS JOIN LATERAL (SELECT version, digest, document, time_zone,
                            velocity_window_s, daily_window FROM countersign.policy
                       WHERE active_from <= clock.now ORDER BY version DESC LIMIT 1) p
  CROSS JOIN LATERAL countersign.policy_state(c.subject_id, $5, $6, clock.now,
       (clock.now AT TIME ZONE p.time_zone)::date, p.velocity_window_s, p.daily_window) state
  LEFT JOIN countersign.idempotency i ON i.client_id = $2 AND i.route = $3 AND i.key = $4;
