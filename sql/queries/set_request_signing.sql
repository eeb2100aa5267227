-- Sets how strictly a credential's requests are judged. One row: set or lost_race.
--   $1 subject, $2 credential, $3 its seq, $4 mode or NULL, $5 evidence (JSON)
SELECT countersign.set_request_signing($1, $2, $3, $4, $5) AS status;
