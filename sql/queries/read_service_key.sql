-- The wrapped data key of events of the service itself. Zero rows means that there is none yet.
SELECT wrapped, clock_timestamp() AS now FROM countersign.subject_key
 WHERE subject_id = '00000000-0000-0000-0000-000000000000';
