-- Writes the batch.
--   $1 old size, $2 new size, $3 root, $4 edge, $5 tiles' levels, $6 their indexes, $7 their hashes, $8 note
-- Edge and hashes are hexadecimal.
SELECT countersign.advance_log($1, $2, $3,
    ARRAY(SELECT decode(e.hashes, 'hex') FROM unnest($4::text[]) WITH ORDINALITY AS e (hashes, n) ORDER BY e.n),
    $5::smallint[], $6::bigint[],
    ARRAY(SELECT decode(e.hashes, 'hex') FROM unnest($7::text[]) WITH ORDINALITY AS e (hashes, n) ORDER BY e.n),
    $8);
