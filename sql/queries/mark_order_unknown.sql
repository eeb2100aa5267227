-- Records that retries are used up. One row: settled, lost_lease or lost_race.
--   $1 subject, $2 action, $3 its seq, $4 lease token, $5 when to ask again, $6 evidence (JSON)
SELECT countersign.mark_order_unknown($1, $2, $3, $4, $5, $6) AS status;
