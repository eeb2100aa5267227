-- The events after a place of the feed, in its order, each beside the last place there is. One row without
-- an event when none follows.
--   $1 place, $2 how many at most
SELECT last.place AS last_place, e.position, e.id, e.kind, e.at, c.customer_id, e.action_id,
       e.credential_id, nullif(cr.label, '') AS label, e.payee_id, e.document::text AS document
  FROM (SELECT coalesce(max(position), 0) AS place FROM countersign.event) last
  LEFT JOIN (SELECT * FROM countersign.event WHERE position > $1 ORDER BY position LIMIT $2) e ON true
  LEFT JOIN countersign.customer c ON c.subject_id = e.subject_id
  LEFT JOIN countersign.credential cr ON cr.id = e.credential_id
 ORDER BY e.position;
