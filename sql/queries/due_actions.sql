-- Actions whose time has come: pending ones to expire, held ones to release. Zero rows means none.
--   $1 how many at most
SELECT clock_timestamp() AS now, a.subject_id, k.wrapped,
       c.version AS customer_version, a.id AS action_id, a.seq, a.head, a.expires_at,
       a.hold_until, a.hold_rule, a.hold_end, r.*
  FROM (SELECT id FROM countersign.action
         WHERE "authorization" = 'pending' AND expires_at <= clock_timestamp()
        UNION ALL
        SELECT id FROM countersign.action
         WHERE execution = 'held' AND hold_until <= clock_timestamp()
         LIMIT $1) due
  JOIN countersign.action a ON a.id = due.id
  JOIN countersign.customer c ON c.subject_id = a.subject_id
  JOIN countersign.subject_key k ON k.subject_id = a.subject_id
 CROSS JOIN LATERAL countersign.against_release(a.id) r;
