-- A person of the risk team, and the time. Zero rows: nobody of that role.
--   $1 client
SELECT clock_timestamp() AS now, c.id AS client_id, c.name, c.role
  FROM countersign.client c WHERE c.id = $1 AND c.removed_at IS NULL AND c.role = 'risk';
