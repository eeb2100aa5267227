-- The clients that names of a certificate are bound to. Zero rows means none; two are a conflict.
--   $1 subject alternative names (text array)
SELECT DISTINCT c.id, c.role
  FROM countersign.client_certificate k JOIN countersign.client c ON c.id = k.client_id
 WHERE k.subject_alternative_name = ANY ($1) AND k.revoked_at IS NULL AND c.removed_at IS NULL;
