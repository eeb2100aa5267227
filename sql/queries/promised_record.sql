-- What became of a promised record, and whether the promise is due. Always one row; the leaf hash is NULL for a record
-- that no published checkpoint has.
--   $1 the record   $2 when the promise is due
SELECT clock_timestamp() >= $2 AS is_due,
       (SELECT l.leaf_hash FROM countersign.log_leaf l
         WHERE l.evidence_id = $1 AND l.position < (SELECT s.published FROM countersign.log_state s)) AS leaf_hash;
