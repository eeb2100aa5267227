-- The policy in force and every version after it, oldest first. Zero rows: there is none in force.
SELECT p.version, p.digest, p.document, p.active_from, p.published_at,
       p.version = a.active AS is_active, clock_timestamp() AS now
  FROM (SELECT countersign.active_policy_version() AS active) a
  JOIN countersign.policy p ON p.version >= a.active
 ORDER BY p.version;
