-- Whose key it is, for the operator. Zero rows means that there is none.
--   $1 key
SELECT clock_timestamp() AS now, c.id AS client_id, c.name, c.role, k.status
  FROM countersign.person_key k JOIN countersign.client c ON c.id = k.client_id
 WHERE k.id = $1;
