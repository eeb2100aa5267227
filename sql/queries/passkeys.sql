-- The IDs of a customer's active passkeys. Always one row.
--   $1 subject
SELECT ARRAY(SELECT encode(passkey_id, 'hex') FROM countersign.credential
              WHERE subject_id = $1 AND kind = 'passkey' AND status = 'active' ORDER BY created_at);
