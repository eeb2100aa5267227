-- Opens the log. $1 its origin
SELECT countersign.open_log($1);
