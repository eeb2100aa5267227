-- Leaves by position; fewer where records are not there. $1 the first, $2 after the last
SELECT l.position, e.leaf FROM countersign.log_leaf l JOIN countersign.evidence e ON e.id = l.evidence_id
 WHERE l.position >= $1 AND l.position < $2 ORDER BY l.position;
