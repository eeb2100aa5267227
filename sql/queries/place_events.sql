-- Gives committed events their places in the feed. One row: how many.
--   $1 how many at most
SELECT countersign.place_events($1) AS placed;
