-- An act under which payees may be imported, for the operator. Zero rows: there is none of this kind.
--   $1 act
SELECT state, document FROM countersign.read_import_act($1);
