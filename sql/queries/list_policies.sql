-- Published policies, newest first. Zero rows: none of that number.
--   $1 version, or NULL for all
SELECT p.version, p.digest, p.document, p.active_from, p.published_at,
       p.version = a.active AS is_active
  FROM (SELECT countersign.active_policy_version() AS active) a, countersign.policy p
 WHERE $1::int IS NULL OR p.version = $1
 ORDER BY p.version DESC;
