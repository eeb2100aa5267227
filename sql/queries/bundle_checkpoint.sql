-- The checkpoint for a bundle, of the published ones: the newest that has a quorum of witnesses and a timestamp, else
-- the newest with a quorum, else the newest with a timestamp, else the newest.
--   $1 more positions than this
SELECT c.size, c.note,
       array_to_string(ARRAY(SELECT DISTINCT ON (k.witness) k.line FROM countersign.log_cosignature k
           WHERE k.size = c.size ORDER BY k.witness, k.cosigned_at DESC), '') AS cosignatures,
       array_to_string(ARRAY(SELECT encode(t.response, 'hex') FROM countersign.log_timestamp t
           WHERE t.size = c.size ORDER BY t.authority), ',') AS timestamps
  FROM countersign.log_state s
  JOIN countersign.log_checkpoint c ON c.size = coalesce(
       -- Where there is no quorum past the position no timestamp is looked at for one, and never many.
       (SELECT t.size
          FROM (SELECT t.size FROM countersign.log_timestamp t
                 WHERE t.size > $1 AND t.size <= (SELECT max(q.size) FROM countersign.log_quorum q
                                                   WHERE q.size <= s.published)
                 ORDER BY t.size DESC LIMIT 1000) t
         WHERE EXISTS (SELECT FROM countersign.log_quorum q WHERE q.size = t.size)
         ORDER BY t.size DESC LIMIT 1),
       (SELECT max(q.size) FROM countersign.log_quorum q WHERE q.size > $1 AND q.size <= s.published),
       (SELECT max(t.size) FROM countersign.log_timestamp t WHERE t.size > $1 AND t.size <= s.published),
       s.published)
 WHERE c.size > $1;
