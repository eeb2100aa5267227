-- Records what core banking said beside its receipt. One row: recorded, known or lost_race.
--   $1 subject, $2 action, $3 its seq, $4 status, $5 reference, $6 reason, $7 SHA-256 of these,
--   $8 evidence (JSON)
SELECT countersign.record_contradiction($1, $2, $3, $4, $5, $6, $7, $8) AS status;
