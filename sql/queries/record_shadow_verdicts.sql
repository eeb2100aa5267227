-- Keeps verdicts of a shadow. A row for each that was new; zero rows: another instance was quicker.
--   $1 shadow, $2 verdicts (JSON)
SELECT r AS evidence_id FROM countersign.record_shadow_verdicts($1, $2) r;
