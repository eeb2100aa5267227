-- Actions whose time has come: pending ones to expire, held ones to release. Zero rows means none.
--   $1 how many at most
SELECT clock_timestamp() AS now, a.subject_id, k.wrapped,
       c.version AS customer_version, a.id AS action_id, a.seq, a.head, a.expires_at,
       a.hold_until, a.hold_rule, a.hold_end,
       -- A recovery may have kept what its keys approved.
       CASE WHEN cr.approvals_kept_at IS NULL THEN nullif(cr.status, 'active') END AS credential_end,
       a.kind = 'transfer' AND p.id IS NULL AND a.payee_unknown IS NOT TRUE AS payee_is_gone,
       -- The customer has lowered a limit meanwhile, or changed the same one again.
       CASE WHEN a.kind = 'transfer' THEN (
           SELECT min(l.limit_name) FROM countersign.customer_limit l
             LEFT JOIN countersign.reservation r ON r.action_id = a.id AND r.returned_at IS NULL
                  AND r.dimension = 'day:' || a.currency
             LEFT JOIN countersign.counter day ON day.subject_id = a.subject_id
                  AND day.dimension = r.dimension AND day.window_start = r.window_start
            WHERE l.subject_id = a.subject_id AND l.currency = a.currency
              AND l.amount_minor < CASE l.limit_name WHEN 'single_max' THEN a.amount_minor
                                        ELSE day.used END)
       WHEN a.kind = 'limit_change' THEN (
           SELECT 'superseded' FROM countersign.customer_limit l
             JOIN countersign.decision newer ON newer.action_id = l.action_id
            WHERE l.subject_id = a.subject_id AND l.limit_name = a.limit_name
              AND l.currency = a.currency AND newer.decided_at > d.decided_at)
       END AS limit_lowered
  FROM (SELECT id FROM countersign.action
         WHERE "authorization" = 'pending' AND expires_at <= clock_timestamp()
        UNION ALL
        SELECT id FROM countersign.action
         WHERE execution = 'held' AND hold_until <= clock_timestamp()
         LIMIT $1) due
  JOIN countersign.action a ON a.id = due.id
  JOIN countersign.customer c ON c.subject_id = a.subject_id
  JOIN countersign.subject_key k ON k.subject_id = a.subject_id
  LEFT JOIN countersign.decision d ON d.action_id = a.id
  LEFT JOIN countersign.credential cr ON cr.id = d.credential_id
  LEFT JOIN countersign.payee p ON p.subject_id = a.subject_id AND p.account = a.payee_account
       -- Removed and confirmed anew it cools off anew: the old hold ends before that does.
       AND p.status = 'active' AND p.usable_at <= clock_timestamp();
