-- An action that officers want to approve, by itself or as an act names it, and whether its customer has a
-- key that may sign. Zero rows: none of either.
--   $1 action or NULL, $2 act or NULL
SELECT a.id AS action_id,
       EXISTS (SELECT FROM countersign.credential c
                WHERE c.subject_id = a.subject_id AND c.status = 'active') AS has_key
  FROM countersign.action a
 WHERE a.erased_at IS NULL AND (a.id = $1 OR a.id = (
       SELECT action_id FROM countersign.act
        WHERE id = $2 AND kind = 'action.approve'));
