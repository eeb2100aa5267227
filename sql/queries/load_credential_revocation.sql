-- What revoking a credential looks at. Zero rows means that there is none.
-- open_actions: those that it approved and that were never sent to core banking, each as
-- id:length of its chain:head of its chain, with commas between. open_questions: a JSON object.
--   $1 credential
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT clock.now, p.version AS policy_version, p.digest AS policy_digest,
       p.document AS policy_document, c.customer_id, c.subject_id, c.version AS customer_version,
       k.wrapped, cr.id, cr.kind, cr.status, coalesce(cr.label, '') AS label, cr.created_at,
       cr.revoked_at, cr.backup_eligible, cr.backup_state, cr.signature_format,
       cr.attestation::json ->> 'verdict' AS attestation_verdict,
       cr.attestation::json ->> 'format' AS attestation_format,
       coalesce(att.facts, '{}')::text AS facts,
       array_to_string(coalesce(att.profiles, '{}'), ',') AS profiles, att.app_attest_key,
       cr.seq AS credential_seq, cr.head AS credential_head,
       (SELECT coalesce(string_agg(
                   concat_ws(':', a.id, a.seq, encode(a.head, 'hex')), ',' ORDER BY a.id), '')
          FROM countersign.action a
          JOIN countersign.decision d ON d.action_id = a.id AND d.credential_id = cr.id
          JOIN countersign.execution_order o ON o.action_id = a.id
         WHERE a.subject_id = cr.subject_id AND a.execution IN ('held', 'ready')
           AND o.attempt = 0 AND o.settled_at IS NULL) AS open_actions,
       countersign.open_questions(cr.subject_id) AS open_questions
  FROM clock
  JOIN countersign.credential cr ON cr.id = $1
  JOIN countersign.customer c ON c.subject_id = cr.subject_id AND c.erased_at IS NULL
  LEFT JOIN countersign.credential_attestation att ON att.credential_id = cr.id
  JOIN countersign.subject_key k ON k.subject_id = cr.subject_id
  CROSS JOIN LATERAL (SELECT version, digest, document FROM countersign.policy
                       WHERE active_from <= clock.now ORDER BY version DESC LIMIT 1) p;
