-- The newest published checkpoint; zero rows before the first.
SELECT c.size, c.note,
       ARRAY_TO_STRING(ARRAY(SELECT DISTINCT ON (k.witness) k.line FROM countersign.log_cosignature k
           WHERE k.size = c.size ORDER BY k.witness, k.cosigned_at DESC), '') AS cosignatures
  FROM countersign.log_state s JOIN countersign.log_checkpoint c ON c.size = s.published;
