-- Records a receipt. One row: settled, lost_lease or lost_race.
--   $1 subject, $2 action, $3 its seq, $4 lease token, $5 executed or refused, $6 reference,
--   $7 reason, $8 core banking's answer, $9 evidence (JSON)
SELECT countersign.settle_order($1, $2, $3, $4, $5, $6, $7, $8, $9) AS status;
