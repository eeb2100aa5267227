-- What a checkpoint claims, counted. $1 its size
SELECT a.unsequenced, a.missing, a.altered FROM countersign.audit_completeness($1) a;
