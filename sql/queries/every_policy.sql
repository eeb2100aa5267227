-- Every version of the policy, oldest first. Always one row at least.
SELECT version, digest, document, active_from FROM countersign.policy ORDER BY version;
