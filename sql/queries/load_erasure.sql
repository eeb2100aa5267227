-- What erasing a customer, or a legal hold on one, looks at. Zero rows means that the customer is not known.
-- service_records: the IDs of records of the service itself about this customer, with commas between.
--   $1 customer_id
SELECT clock_timestamp() AS now, c.subject_id, c.version AS customer_version, k.wrapped,
       array_to_string(countersign.service_records_of(c.subject_id), ',') AS service_records,
       countersign.newest_record_of(c.subject_id) AS newest_at,
       (SELECT count(*) FROM countersign.evidence_body b WHERE b.subject_id = c.subject_id
            OR b.evidence_id = ANY (countersign.service_records_of(c.subject_id))) AS records
  FROM countersign.customer c
  JOIN countersign.subject_key k ON k.subject_id = c.subject_id
 WHERE c.customer_id = $1;
