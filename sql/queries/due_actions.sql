-- Actions whose time has come, those first that have waited longest: pending ones to expire, held ones to
-- release. What was due before, or in the order of IDs at the same time, was given by the page before.
-- A transfer waits for its payee's own end. Zero rows means none.
--   $1 how many at most, $2 due time of the last one before, $3 its ID
SELECT clock_timestamp() AS now, due.at AS due_at, a.subject_id, k.wrapped,
       c.version AS customer_version, a.id AS action_id, a.seq, a.head, a.expires_at,
       a.hold_until, a.hold_rule, a.hold_end, r.*
  FROM ((SELECT id, expires_at AS at FROM countersign.action
          WHERE "authorization" = 'pending' AND expires_at <= statement_timestamp()
            AND (expires_at, id) > ($2::timestamptz, $3::uuid)
          ORDER BY expires_at, id LIMIT $1)
        UNION ALL
        (SELECT id, hold_until FROM countersign.action
          WHERE execution = 'held' AND hold_until <= statement_timestamp()
            AND NOT countersign.payee_is_awaited(id)
            AND (hold_until, id) > ($2::timestamptz, $3::uuid)
          ORDER BY hold_until, id LIMIT $1)
        ORDER BY at, id LIMIT $1) due
  JOIN countersign.action a ON a.id = due.id
  JOIN countersign.customer c ON c.subject_id = a.subject_id
  JOIN countersign.subject_key k ON k.subject_id = a.subject_id
 CROSS JOIN LATERAL countersign.against_release(a.id) r
 ORDER BY due.at, due.id;
