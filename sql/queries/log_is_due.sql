-- Whether there is anything that no batch has. Always one row.
SELECT countersign.log_is_due() AS is_due;
