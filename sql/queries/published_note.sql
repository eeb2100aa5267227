-- The newest published checkpoint as the log signed it, without cosignatures; zero rows before the first.
SELECT c.size, c.note FROM countersign.log_state s JOIN countersign.log_checkpoint c ON c.size = s.published;
