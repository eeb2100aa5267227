-- Marks the newest checkpoint as published, when it is not.
SELECT countersign.publish_log(c.size, c.note)
  FROM countersign.log_state s JOIN countersign.log_checkpoint c ON c.size = s.size
 WHERE s.published IS DISTINCT FROM s.size;
