-- Notes that a published checkpoint has the cosignatures that the policy asks for. Always one row.
--   $1 its size
SELECT countersign.record_quorum($1);
