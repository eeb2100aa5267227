-- The next batch, in its order.
SELECT b.evidence_id, b.leaf_hash FROM countersign.log_batch() b;
