-- Keeps what a witness said of a checkpoint. $1 its size, $2 the witness, $3 when, $4 the line
SELECT countersign.record_cosignature($1, $2, $3::timestamptz, $4);
