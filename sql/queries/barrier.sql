-- A write whose commit waits for whatever earlier commits wait for. Always one row.
-- A transaction ID alone would not wait.
SELECT pg_logical_emit_message(true, 'countersign', 'barrier');
