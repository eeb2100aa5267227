-- Shadows of which not every decision is known to have its verdict. Zero rows: none.
SELECT s.id, s.digest AS policy_digest, s.document AS policy_document
  FROM countersign.policy_shadow s
 WHERE s.done_until < countersign.shadow_end(s)
 ORDER BY s.id;
