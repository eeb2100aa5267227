-- What of the server and this session decides whether a commit lasts. Always one row.
SELECT current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_standby_names') <> '' AS has_standbys;
