-- All keys of the people of a role, oldest first. Zero rows means that there never was one.
--   $1 role
SELECT k.id, c.id AS client_id, c.name, c.role, k.label, k.status, k.public_key, k.passkey_id,
       p.user_handle, k.sign_count, k.backup_eligible, k.backup_state,
       array_to_string(k.transports, ',') AS transports, k.failures, k.registered_at, k.revoked_at,
       k.evidence_id
  FROM countersign.person_key k
  JOIN countersign.person p ON p.client_id = k.client_id
  JOIN countersign.client c ON c.id = k.client_id
 WHERE c.role = $1 AND c.removed_at IS NULL
 ORDER BY k.registered_at, k.id;
