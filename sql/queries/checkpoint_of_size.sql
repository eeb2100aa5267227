-- One checkpoint. $1 its size
SELECT c.note FROM countersign.log_checkpoint c WHERE c.size = $1;
