-- Policies whose publication is not evidence yet: those that a migration brought. Zero rows: none.
SELECT p.version, p.digest, p.document FROM countersign.policy p
 WHERE NOT EXISTS (SELECT FROM countersign.evidence e WHERE e.kind = 'policy.published'
                     AND convert_from(e.leaf, 'UTF8')::jsonb ->> 'policy' = encode(p.digest, 'hex'))
 ORDER BY p.version;
