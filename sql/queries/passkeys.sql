-- The IDs of a customer's active passkeys, in hexadecimal with commas between. Always one row.
--   $1 subject
SELECT coalesce(string_agg(encode(passkey_id, 'hex'), ',' ORDER BY created_at), '') AS passkeys
  FROM countersign.credential
 WHERE subject_id = $1 AND kind = 'passkey' AND status = 'active';
