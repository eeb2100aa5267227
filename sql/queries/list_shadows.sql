-- Shadows, newest first, beside the time. One row without a shadow when there is none.
--   $1 one shadow or NULL, $2 older than this shadow or NULL, $3 at most so many
SELECT clock_timestamp() AS now, s.*
  FROM (SELECT 1) one
  LEFT JOIN (SELECT s.id, s.label, s.digest, s.started_at, s.until, s.ended_at, s.done_until,
                    s.forgotten_at, s.started_by, p.name AS starter_name, p.role AS starter_role,
                    s.ended_by, e.name AS ender_name, e.role AS ender_role
               FROM countersign.policy_shadow s
               JOIN countersign.client p ON p.id = s.started_by
               LEFT JOIN countersign.client e ON e.id = s.ended_by
              WHERE ($1::uuid IS NULL OR s.id = $1) AND ($2::uuid IS NULL OR s.id < $2)
              ORDER BY s.id DESC LIMIT $3) s ON true
 ORDER BY s.id DESC;
