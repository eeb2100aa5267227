-- Moves forward the time before which a shadow has decided everything. One row.
--   $1 shadow
SELECT countersign.advance_shadow($1) AS done_until;
