-- All that a decision about one action looks at. Zero rows means that there is no such action.
--   $1 action_id, $2 challenge_id or NULL, $3 credential_id or NULL, $4 passkey_id or NULL
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
the_policy AS MATERIALIZED (
    SELECT version, digest, document, time_zone, velocity_window_s, daily_window FROM countersign.policy
     WHERE active_from <= (SELECT now FROM clock) ORDER BY version DESC LIMIT 1)
SELECT clock.now,
       (clock.now AT TIME ZONE the_policy.time_zone)::date AS bank_day,
       the_policy.version AS policy_version, the_policy.digest AS policy_digest,
       the_policy.document AS policy_document,
       c.customer_id, c.subject_id, c.version AS customer_version, c.failures AS customer_failures,
       c.locked_until, c.contact_hold_until, c.recovered_at, k.wrapped,
       a.id AS action_id, a.kind, a.amount, a.currency, a.debtor_account, a.payee_name,
       a.payee_account, a.payee_alias, a.reference, a.end_to_end_id, a.channel,
       a.old_value_digest, a.new_value, a.limit_name, a.external_id, a.risk, a.policy_version AS action_policy_version,
       a."authorization",
       CASE WHEN a.execution = 'ready' AND o.attempt > 0 THEN 'in_progress' ELSE a.execution END
           AS execution,
       a.hold_until, a.hold_rule, a.hold_end, a.created_at, a.expires_at, a.failures AS action_failures,
       a.seq AS action_seq, a.head AS action_head,
       told.approve_message AS told_message, ch.id AS challenge_id, ch.state AS challenge_state, ch.failures AS challenge_failures,
       ch.nonce, ch.approve_message, ch.reject_message, ch.created_at AS challenge_created_at,
       ch.expires_at AS challenge_expires_at,
       cr.id AS credential_id, cr.kind AS credential_kind, cr.status AS credential_status,
       cr.public_key, cr.passkey_id, cr.user_handle, cr.sign_count, cr.signature_format,
       cr.backup_eligible, cr.backup_state, cr.failures AS credential_failures,
       array_to_string(coalesce(att.profiles, '{}'), ',') AS profiles, att.app_attest_key,
       -- What ends with the credential, read only where its next failure is the last.
       CASE WHEN cr.failures >= 99 THEN countersign.open_questions(c.subject_id) END
           AS open_questions,
       cr.created_at AS credential_created_at, cr.evidence_id AS credential_evidence_id,
       cr.seq AS credential_seq, cr.head AS credential_head,
       state.*,
       d.outcome AS decision_outcome, d.challenge_id AS decision_challenge_id, d.assertion_digest,
       d.execution AS decision_execution, d.hold_until AS decision_hold_until,
       d.hold_rule AS decision_hold_rule, d.hold_end AS decision_hold_end, d.evidence_id AS decision_evidence_id,
       d.leaf_hash AS decision_leaf_hash
  FROM clock CROSS JOIN the_policy
  JOIN countersign.action a ON a.id = $1 AND a.erased_at IS NULL
  JOIN countersign.customer c ON c.subject_id = a.subject_id
  JOIN countersign.subject_key k ON k.subject_id = a.subject_id
  LEFT JOIN countersign.challenge ch ON ch.id = $2 AND ch.action_id = a.id
  -- Without a challenge in the request, what the customer was first asked tells whether the action
  -- is still the one that was asked about.
  LEFT JOIN LATERAL (SELECT c1.approve_message FROM countersign.challenge c1
                      WHERE c1.action_id = a.id AND $2::uuid IS NULL
                      ORDER BY c1.created_at LIMIT 1) told ON true
  LEFT JOIN countersign.credential cr
       ON cr.subject_id = a.subject_id AND (cr.id = $3 OR cr.passkey_id = $4)
  LEFT JOIN countersign.credential_attestation att ON att.credential_id = cr.id
  CROSS JOIN LATERAL countersign.policy_state(a.subject_id, a.payee_account, a.currency, clock.now,
       (clock.now AT TIME ZONE the_policy.time_zone)::date, the_policy.velocity_window_s,
       the_policy.daily_window) state
  LEFT JOIN countersign.decision d ON d.action_id = a.id
  LEFT JOIN countersign.execution_order o ON o.action_id = a.id;
