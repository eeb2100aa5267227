-- Forgets the answers of idempotency keys older than a week. One row: how many.
SELECT countersign.forget_idempotency() AS forgotten;
