-- Revokes a key of a person. One row: revoked or lost_race.
--   $1 key, $2 whose it must be, or NULL for the operator, $3 revoked_at, $4 evidence (JSON)
SELECT countersign.revoke_person_key($1, $2, $3, $4) AS status;
