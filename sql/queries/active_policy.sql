-- The policy in force. Zero rows means that there is none, and nothing may be decided.
SELECT version AS policy_version, digest AS policy_digest, document AS policy_document
  FROM countersign.policy
 WHERE active_from <= clock_timestamp() ORDER BY version DESC LIMIT 1;
