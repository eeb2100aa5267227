-- The records of one action's bundle, with their positions: its life, the enrolment of the key that decided,
-- the publication of the policy that did, and the erasure of the customer when there was one. Zero rows when the record is of no action.
--   $1 a record of the action
WITH of_action AS (
    SELECT DISTINCT ON (e.kind) e.* FROM countersign.evidence_known e
     WHERE e.action_id = (SELECT action_id FROM countersign.evidence_known WHERE id = $1)
       AND e.kind IN ('action.created', 'action.approved', 'action.rejected', 'action.refused', 'action.held',
                      'action.released', 'action.cancelled', 'order.executed', 'order.refused', 'order.unknown')
     ORDER BY e.kind, e.id DESC),
decision AS (
    -- An action may have been refused before it was approved; approved and rejected exclude each other.
    SELECT * FROM of_action WHERE kind IN ('action.approved', 'action.rejected', 'action.refused')
     ORDER BY kind = 'action.refused', id DESC LIMIT 1),
chosen AS (
    SELECT o.* FROM of_action o
     WHERE o.kind NOT IN ('action.approved', 'action.rejected', 'action.refused')
        OR o.id = (SELECT id FROM decision)
    UNION ALL
    SELECT e.* FROM countersign.evidence_known e JOIN decision d ON e.credential_id = d.credential_id
     WHERE e.kind = 'credential.enrolled'
    UNION ALL
    -- Publications are few, and the digest stands in their leaves; a later version may be the same document.
    SELECT e.* FROM countersign.evidence_known e, decision d
     WHERE e.kind = 'policy.published' AND e.id < d.id
       AND substring(encode(e.leaf, 'escape') FROM '"policy":"([0-9a-f]{64})"')
           = substring(encode(d.leaf, 'escape') FROM '"policy":"([0-9a-f]{64})"')
    UNION ALL
    -- Why the customer's records have no bodies.
    SELECT e.* FROM decision d JOIN countersign.erasure x ON x.subject_id = d.subject_id
      JOIN countersign.evidence e ON e.id = x.evidence_id)
SELECT c.id, c.kind, c.action_id, c.subject_id, c.credential_id, c.leaf, c.leaf_hash, c.body_commit,
       c.recorded_at, b.subject_id AS body_subject_id, b.salt, b.nonce, b.ciphertext, k.wrapped, l.position,
       b.evidence_id IS NULL AND k.subject_id IS NOT NULL AND k.wrapped IS NULL AS is_erased
  FROM chosen c
  LEFT JOIN countersign.log_leaf l ON l.evidence_id = c.id
  LEFT JOIN countersign.evidence_body b ON b.evidence_id = c.id
  LEFT JOIN countersign.subject_key k ON k.subject_id = coalesce(b.subject_id, c.subject_id);
