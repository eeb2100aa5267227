-- Marks a checkpoint as published. $1 its size
SELECT countersign.publish_log($1);
