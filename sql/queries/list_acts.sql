-- Acts of a role, newest first. Zero rows: none.
--   $1 role, $2 one act or NULL, $3 state or NULL, $4 older than this act or NULL, $5 at most so many
SELECT a.id, a.kind, a.role, a.document, a.digest, a.created_by, c.name, a.created_at, a.expires_at,
       a.closed_at, s.state
  FROM countersign.act a
  JOIN countersign.client c ON c.id = a.created_by
 CROSS JOIN LATERAL (SELECT CASE WHEN a.state = 'open' AND a.expires_at <= clock_timestamp()
                                 THEN 'expired' ELSE a.state END AS state) s
 WHERE a.role = $1 AND a.erased_at IS NULL AND ($2::uuid IS NULL OR a.id = $2) AND ($3::text IS NULL OR s.state = $3)
   AND ($4::uuid IS NULL OR a.id < $4)
 ORDER BY a.id DESC LIMIT $5;
