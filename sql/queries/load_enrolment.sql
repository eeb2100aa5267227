-- All that finishing an enrolment looks at. Zero rows means that this customer has no such enrolment.
--   $1 enrolment, $2 customer_id, $3 challenge or NULL, $4 credential_id or NULL,
--   $5 passkey_id or NULL
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT clock.now, p.version AS policy_version, p.digest AS policy_digest,
       p.document AS policy_document, c.customer_id, c.subject_id, c.version AS customer_version,
       c.failures AS customer_failures, c.locked_until, k.wrapped,
       e.id AS enrolment_id, e.kind AS enrolment_kind, coalesce(e.label, '') AS enrolment_label,
       e.user_handle AS enrolment_user_handle, e.message AS enrolment_message,
       e.created_at AS enrolment_created_at, e.expires_at AS enrolment_expires_at,
       e.spent_at IS NOT NULL AS enrolment_is_spent,
       au.challenge_id AS authorization_id, au.message AS authorization_message,
       au.expires_at AS authorization_expires_at, au.key_digest,
       au.spent_at IS NOT NULL AS authorization_is_spent,
       cr.id AS credential_id, cr.kind AS credential_kind, cr.status AS credential_status,
       cr.public_key, cr.passkey_id, cr.user_handle, cr.sign_count, cr.signature_format,
       cr.backup_eligible, cr.backup_state, cr.failures AS credential_failures,
       array_to_string(coalesce(att.profiles, '{}'), ',') AS profiles, att.app_attest_key,
       -- What ends with the credential, read only where its next failure is the last.
       CASE WHEN cr.failures >= 99 THEN countersign.open_questions(c.subject_id) END
           AS open_questions,
       cr.created_at AS credential_created_at, cr.evidence_id AS credential_evidence_id,
       cr.seq AS credential_seq, cr.head AS credential_head,
       EXISTS (SELECT FROM countersign.credential x WHERE x.subject_id = c.subject_id)
           AS had_credentials,
       EXISTS (SELECT FROM countersign.credential x
                WHERE x.subject_id = c.subject_id AND x.status = 'active') AS has_credentials,
       countersign.active_passkeys(c.subject_id) AS passkeys
  FROM clock
  JOIN countersign.enrolment e ON e.id = $1
  JOIN countersign.customer c ON c.subject_id = e.subject_id AND c.customer_id = $2
  JOIN countersign.subject_key k ON k.subject_id = c.subject_id
  CROSS JOIN LATERAL (SELECT version, digest, document FROM countersign.policy
                       WHERE active_from <= clock.now ORDER BY version DESC LIMIT 1) p
  LEFT JOIN countersign.enrolment_authorization au
       ON au.challenge_id = $3 AND au.enrolment_id = e.id
  LEFT JOIN countersign.credential cr
       ON cr.subject_id = c.subject_id AND (cr.id = $4 OR cr.passkey_id = $5)
  LEFT JOIN countersign.credential_attestation att ON att.credential_id = cr.id;
