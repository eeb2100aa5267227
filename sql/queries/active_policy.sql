-- The policy in force. Zero rows means that there is none, and nothing may be decided.
SELECT version, digest, document FROM countersign.policy
 WHERE active_from <= clock_timestamp() ORDER BY version DESC LIMIT 1;
