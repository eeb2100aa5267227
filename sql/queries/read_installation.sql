-- Whether the database is for development. Always one row; false when nobody has said so.
SELECT coalesce((SELECT is_development FROM countersign.installation), false) AS is_development;
