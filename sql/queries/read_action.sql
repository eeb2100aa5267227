-- One action as it stands. Zero rows means that there is none.
--   $1 action_id
SELECT clock_timestamp() AS now, c.customer_id, a.id AS action_id, a.kind, a.amount, a.currency,
       a.debtor_account, a.payee_name, a.payee_account, a.payee_alias, a.reference,
       a.end_to_end_id, a.channel, a.old_value_digest, a.new_value, a.limit_name, a.external_id, a.risk,
       a.policy_version AS action_policy_version, a."authorization",
       CASE WHEN a.execution = 'ready' AND o.attempt > 0 THEN 'in_progress' ELSE a.execution END
           AS execution,
       a.hold_until, a.hold_rule, a.hold_end, a.created_at, a.expires_at
  FROM countersign.action a
  JOIN countersign.customer c ON c.subject_id = a.subject_id
  LEFT JOIN countersign.execution_order o ON o.action_id = a.id
 WHERE a.id = $1 AND a.erased_at IS NULL;
