-- Who of a role has an active key. At least one row: without a client when there is nobody.
--   $1 role
SELECT t.now, p.client_id
  FROM (SELECT clock_timestamp() AS now) t
  LEFT JOIN (SELECT DISTINCT k.client_id
               FROM countersign.person_key k JOIN countersign.client c ON c.id = k.client_id
              WHERE k.status = 'active' AND c.role = $1 AND c.removed_at IS NULL) p ON true
 ORDER BY p.client_id;
