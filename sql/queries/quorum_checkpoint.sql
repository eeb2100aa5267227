-- The newest published checkpoint that has a quorum of witnesses; without one, the newest. Zero rows before the first.
SELECT c.size, c.note,
       array_to_string(ARRAY(SELECT DISTINCT ON (k.witness) k.line FROM countersign.log_cosignature k
           WHERE k.size = c.size ORDER BY k.witness, k.cosigned_at DESC), '') AS cosignatures
  FROM countersign.log_state s
  JOIN countersign.log_checkpoint c ON c.size = coalesce(
       (SELECT max(q.size) FROM countersign.log_quorum q WHERE q.size <= s.published), s.published);
