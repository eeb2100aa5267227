-- Makes one snapshot of the transaction that has just begun, and gives the first batch the time it needs.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
