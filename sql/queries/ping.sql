-- Tells whether the database answers. Always one row.
SELECT 1;
