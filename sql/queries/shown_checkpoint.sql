-- The checkpoint to show to whoever asks. Zero rows before the first.
--   $1 whether one with a quorum of witnesses is wanted, where there is one
WITH shown AS MATERIALIZED (SELECT countersign.show_log($1) AS size)
SELECT c.size, c.note,
       array_to_string(ARRAY(SELECT DISTINCT ON (k.witness) k.line FROM countersign.log_cosignature k
           WHERE k.size = c.size ORDER BY k.witness, k.cosigned_at DESC), '') AS cosignatures
  FROM shown s JOIN countersign.log_checkpoint c ON c.size = s.size;
