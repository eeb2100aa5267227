-- Undoes what a migration set for its session: a script.
RESET ROLE;
RESET search_path;
