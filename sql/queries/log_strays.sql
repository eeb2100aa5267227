-- Records that have no position and that no batch will take. $1 how many at most. Zero rows when there are none.
SELECT u.id FROM countersign.audit_unsequenced u
 WHERE NOT u.is_due ORDER BY u.id LIMIT $1;
