-- A customer's actions, newest first. Zero rows means that none fits.
--   $1 customer_id, $2 authorization or NULL, $3 execution or NULL, $4 before this id or NULL, $5 limit
SELECT clock_timestamp() AS now, c.customer_id, a.id AS action_id, a.kind, a.amount, a.currency,
       a.debtor_account, a.payee_name, a.payee_account, a.payee_alias, a.reference,
       a.end_to_end_id, a.channel, a.old_value_digest, a.new_value, a.limit_name, a.external_id, a.risk,
       a.policy_version AS action_policy_version, shown."authorization", shown.execution,
       a.hold_until, a.hold_rule, a.hold_end, a.created_at, a.expires_at
  FROM countersign.customer c
  JOIN countersign.action a ON a.subject_id = c.subject_id
  LEFT JOIN countersign.execution_order o ON o.action_id = a.id
 CROSS JOIN LATERAL (SELECT
       CASE WHEN a."authorization" = 'pending' AND a.expires_at <= clock_timestamp() THEN 'expired'
            ELSE a."authorization" END AS "authorization",
       CASE WHEN a.execution = 'ready' AND o.attempt > 0 THEN 'in_progress' ELSE a.execution END
           AS execution) shown
 WHERE c.customer_id = $1
   AND ($2::text IS NULL OR shown."authorization" = $2)
   AND ($3::text IS NULL OR shown.execution = $3)
   AND ($4::uuid IS NULL OR a.id < $4)
 ORDER BY a.id DESC LIMIT $5;
