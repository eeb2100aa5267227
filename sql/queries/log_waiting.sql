-- For how many seconds the oldest record has waited that no batch has. Always one row; 0 when none waits.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - u.recorded_at)), 0)::bigint AS seconds
  FROM countersign.audit_unsequenced u;
