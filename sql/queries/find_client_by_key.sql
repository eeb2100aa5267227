-- The client that owns a key. Zero rows means that nobody does, or not any more.
--   $1 SHA-256 of the key
SELECT c.id, c.role FROM countersign.client_key k JOIN countersign.client c ON c.id = k.client_id
 WHERE k.digest = $1 AND k.revoked_at IS NULL AND c.removed_at IS NULL;
