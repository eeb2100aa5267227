-- Marks a checkpoint as published. $1 its size, $2 its note
SELECT countersign.publish_log($1, $2);
