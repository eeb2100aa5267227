-- A question to a person about an act. Zero rows: there is no such one.
--   $1 challenge, $2 act, $3 client
SELECT id, act_id, client_id, stage, message, state, created_at, expires_at
  FROM countersign.act_challenge WHERE id = $1 AND act_id = $2 AND client_id = $3;
