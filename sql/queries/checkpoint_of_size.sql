-- One checkpoint, also one that was not published; zero rows when there is none. $1 its size
SELECT c.note FROM countersign.log_checkpoint c WHERE c.size = $1;
