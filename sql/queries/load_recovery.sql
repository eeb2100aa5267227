-- All that a recovery ends. Zero rows means that the customer is not known.
-- live_credentials: those that are not revoked; open_actions: the approvals that were never sent to core
-- banking; each as id:length of its chain:head of its chain, with commas between. open_questions: a JSON
-- object.
--   $1 customer_id
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
SELECT clock.now, p.version AS policy_version, p.digest AS policy_digest,
       p.document AS policy_document, c.subject_id, c.version AS customer_version, k.wrapped,
       c.recovered_at,
       (SELECT coalesce(string_agg(
                   concat_ws(':', cr.id, cr.seq, encode(cr.head, 'hex')), ',' ORDER BY cr.id), '')
          FROM countersign.credential cr
         WHERE cr.subject_id = c.subject_id AND cr.status <> 'revoked') AS live_credentials,
       (SELECT coalesce(string_agg(
                   concat_ws(':', a.id, a.seq, encode(a.head, 'hex')), ',' ORDER BY a.id), '')
          FROM countersign.action a
          JOIN countersign.execution_order o ON o.action_id = a.id
         WHERE a.subject_id = c.subject_id AND a.execution IN ('held', 'ready')
           AND o.attempt = 0 AND o.settled_at IS NULL) AS open_actions,
       countersign.open_questions(c.subject_id) AS open_questions
  FROM clock
  JOIN countersign.customer c ON c.customer_id = $1
  JOIN countersign.subject_key k ON k.subject_id = c.subject_id
  CROSS JOIN LATERAL (SELECT version, digest, document FROM countersign.policy
                       WHERE active_from <= clock.now ORDER BY version DESC LIMIT 1) p;
