-- The next batch, in its order; zero rows when nothing waits.
SELECT b.evidence_id, b.leaf_hash FROM countersign.log_batch() b;
