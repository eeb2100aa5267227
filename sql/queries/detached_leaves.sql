-- Of some leaf hashes those that stand in the log at a position of a detached month. Zero rows when none does.
--   $1 the first day after the detached months, $2 the last position in them, $3 hexadecimal leaf hashes
SELECT encode(l.leaf_hash, 'hex') AS leaf_hash FROM countersign.log_leaf l
 WHERE l.evidence_id < countersign.month_floor($1::date) AND l.position <= $2
   AND l.leaf_hash = ANY (ARRAY(SELECT decode(h, 'hex') FROM unnest($3::text[]) h));
