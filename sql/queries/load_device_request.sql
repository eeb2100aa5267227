-- All that judging a signed request looks at. Always one row; without the credential its columns are
-- NULL.
--   $1 credential or NULL, $2 nonce or NULL, $3 customer_id that the backend named or NULL
SELECT clock.now,
       -- Of the customer whom the backend named, and of the one whose credential the request names.
       EXISTS (SELECT FROM countersign.credential cr2
                 JOIN countersign.request_signing s2 ON s2.credential_id = cr2.id
                WHERE cr2.subject_id IN (cr.subject_id, (
                          SELECT subject_id FROM countersign.customer WHERE customer_id = $3))
                  AND cr2.status = 'active'
                  AND s2.mode = 'enforce') AS customer_enforces,
       c.customer_id, c.subject_id, c.version AS customer_version,
       coalesce(k.wrapped, '') AS wrapped,
       cr.id AS credential_id, cr.kind AS credential_kind, cr.status AS credential_status,
       cr.public_key, cr.passkey_id, cr.user_handle, cr.sign_count, cr.signature_format,
       cr.backup_eligible, cr.backup_state, cr.failures AS credential_failures,
       array_to_string(coalesce(att.profiles, '{}'), ',') AS profiles, att.app_attest_key,
       -- A request counts no failure, so nothing ends with one.
       NULL::text AS open_questions,
       cr.created_at AS credential_created_at, cr.evidence_id AS credential_evidence_id,
       cr.seq AS credential_seq, cr.head AS credential_head,
       coalesce(s.mode, 'default') AS signing_mode,
       d.id AS request_id, d.seen_at AS request_seen_at,
       d.replay_evidence_id IS NOT NULL AS replay_is_recorded,
       (SELECT count(*) FROM countersign.device_request r
         WHERE r.credential_id = cr.id AND r.replay_evidence_id IS NOT NULL) AS replays_recorded
  FROM (SELECT clock_timestamp() AS now) clock
  LEFT JOIN countersign.credential cr ON cr.id = $1 AND NOT EXISTS (
       SELECT FROM countersign.erasure x WHERE x.subject_id = cr.subject_id)
  LEFT JOIN countersign.customer c ON c.subject_id = cr.subject_id
  LEFT JOIN countersign.subject_key k ON k.subject_id = cr.subject_id
  LEFT JOIN countersign.credential_attestation att ON att.credential_id = cr.id
  LEFT JOIN countersign.request_signing s ON s.credential_id = cr.id
  LEFT JOIN countersign.device_request d ON d.credential_id = cr.id AND d.nonce = $2;
