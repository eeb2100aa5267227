-- The actions that the bank calls so, oldest first; zero rows when there is none. $1 the external ID
SELECT a.id FROM countersign.action a WHERE a.external_id = $1 ORDER BY a.id;
