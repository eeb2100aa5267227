-- Keeps what an authority said of a checkpoint. $1 its size, $2 the authority, $3 when, $4 the TimeStampResp
SELECT countersign.record_timestamp($1, $2, $3::timestamptz, $4);
