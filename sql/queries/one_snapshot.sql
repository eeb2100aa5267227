-- Makes one snapshot of the transaction that has just begun.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
