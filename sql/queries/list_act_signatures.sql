-- The signatures of acts, oldest first. Zero rows: nobody has signed.
--   $1 acts
SELECT s.act_id, s.client_id, c.name, c.role, s.person_key_id, s.challenge_id, s.stage, s.signature,
       s.signed_at, s.evidence_id,
       k.status = 'active' AND c.removed_at IS NULL AND c.role = a.role AS counts
  FROM countersign.act_signature s
  JOIN countersign.act a ON a.id = s.act_id
  JOIN countersign.person_key k ON k.id = s.person_key_id
  JOIN countersign.client c ON c.id = s.client_id
 WHERE s.act_id = ANY ($1::uuid[])
 ORDER BY s.signed_at, s.client_id;
