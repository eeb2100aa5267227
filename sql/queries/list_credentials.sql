-- All credentials of a customer, oldest first. Zero rows means that there never was one.
--   $1 customer_id
SELECT clock_timestamp() AS now, c.customer_id, cr.id, cr.kind, cr.status,
       coalesce(cr.label, '') AS label, cr.created_at, cr.revoked_at, cr.backup_eligible,
       cr.backup_state, cr.signature_format,
       cr.attestation::json ->> 'verdict' AS attestation_verdict,
       cr.attestation::json ->> 'format' AS attestation_format,
       coalesce(att.facts, '{}')::text AS facts,
       array_to_string(coalesce(att.profiles, '{}'), ',') AS profiles, att.app_attest_key
  FROM countersign.customer c
  JOIN countersign.credential cr ON cr.subject_id = c.subject_id
  LEFT JOIN countersign.credential_attestation att ON att.credential_id = cr.id
 WHERE c.customer_id = $1
 ORDER BY cr.created_at, cr.id;
