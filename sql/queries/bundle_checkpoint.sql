-- The checkpoint for a bundle: the newest published one that an authority has stamped, else the newest.
--   $1 more positions than this
SELECT c.size, c.note,
       array_to_string(ARRAY(SELECT DISTINCT ON (k.witness) k.line FROM countersign.log_cosignature k
           WHERE k.size = c.size ORDER BY k.witness, k.cosigned_at DESC), '') AS cosignatures,
       array_to_string(ARRAY(SELECT encode(t.response, 'hex') FROM countersign.log_timestamp t
           WHERE t.size = c.size ORDER BY t.authority), ',') AS timestamps
  FROM countersign.log_state s
  JOIN countersign.log_checkpoint c ON c.size = coalesce(
       (SELECT max(t.size) FROM countersign.log_timestamp t WHERE t.size > $1 AND t.size <= s.published),
       s.published)
 WHERE c.size > $1;
