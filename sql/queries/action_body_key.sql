-- The data key of an action's customer; zero rows: there is no such action, or it was erased. $1 the action
SELECT a.subject_id, k.wrapped
  FROM countersign.action a JOIN countersign.subject_key k ON k.subject_id = a.subject_id
 WHERE a.id = $1 AND a.erased_at IS NULL AND k.wrapped IS NOT NULL;
