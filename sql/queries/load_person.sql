-- A person of the bank with the registration that a request names. Zero rows: nobody who may act.
--   $1 client, $2 registration or NULL; only the person's own is found
SELECT clock_timestamp() AS now, c.id, c.name, c.role, p.user_handle,
       countersign.is_founding_person(c.id, c.role) AS is_founding,
       r.id AS registration_id, r.label, r.message, r.created_at, r.expires_at,
       r.spent_at IS NOT NULL AS is_spent
  FROM countersign.client c
  LEFT JOIN countersign.person p ON p.client_id = c.id
  LEFT JOIN countersign.person_key_registration r ON r.client_id = c.id AND r.id = $2
 WHERE c.id = $1 AND c.removed_at IS NULL AND c.role IN ('risk', 'officer');
