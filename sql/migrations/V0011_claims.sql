-- What is claimed is told by the statement that claims it.
--
-- A volatile function called in a query sees more than the query does: the query's snapshot is older than
-- the function's. Until now the functions returned keys and the query joined the rest, so an order that was
-- approved between the two snapshots was leased and not told, and waited for its lease to run out. Within
-- one statement there is one snapshot: whatever `due` finds, the joins find.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

DROP FUNCTION claim_orders(int, interval);
DROP FUNCTION claim_announcements(int, interval);

-- Leases due orders and returns all that is delivered.
CREATE FUNCTION claim_orders(p_limit int, p_lease interval) RETURNS TABLE (
    action_id uuid, lease_token uuid, attempt int, first_attempt_at timestamptz, execution text,
    customer_id text, decided_at timestamptz, evidence_id uuid, leaf_hash bytea, message bytea,
    signature bytea, client_data_json bytea, authenticator_data bytea, credential_id uuid, kind text,
    public_key bytea, signature_format text)
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    WITH due AS (
        SELECT o.action_id
          FROM execution_order o
          JOIN action a ON a.id = o.action_id
          JOIN decision d ON d.action_id = o.action_id
         WHERE o.settled_at IS NULL AND o.available_at <= clock_timestamp()
           AND (o.lease_until IS NULL OR o.lease_until < clock_timestamp())
           -- A held order becomes due only when its release is written, with its evidence.
           AND a.execution IN ('ready', 'unknown')
           -- Core banking should know the key first; but a key it takes no note of stops nothing.
           AND NOT EXISTS (SELECT FROM credential_announcement n
                            WHERE n.credential_id = d.credential_id AND n.settled_at IS NULL
                              AND (n.attempt = 0 OR n.lease_until > clock_timestamp()))
         ORDER BY o.available_at LIMIT p_limit
           FOR UPDATE OF o SKIP LOCKED),
    claimed AS (
        UPDATE execution_order o
           SET attempt = o.attempt + 1, lease_token = gen_random_uuid(),
               lease_until = clock_timestamp() + p_lease,
               first_attempt_at = coalesce(o.first_attempt_at, clock_timestamp())
          FROM due WHERE o.action_id = due.action_id
        RETURNING o.*)
    SELECT o.action_id, o.lease_token, o.attempt, o.first_attempt_at, a.execution, c.customer_id,
           d.decided_at, d.evidence_id, d.leaf_hash, o.message, o.signature, o.client_data_json,
           o.authenticator_data, cr.id, cr.kind, cr.public_key, cr.signature_format
      FROM claimed o
      JOIN action a ON a.id = o.action_id
      JOIN customer c ON c.subject_id = a.subject_id
      JOIN decision d ON d.action_id = o.action_id
      JOIN credential cr ON cr.id = d.credential_id;
$$;

-- The same for announcements of enrolled keys.
CREATE FUNCTION claim_announcements(p_limit int, p_lease interval) RETURNS TABLE (
    credential_id uuid, lease_token uuid, attempt int, first_attempt_at timestamptz, customer_id text,
    kind text, public_key bytea, created_at timestamptz, signature_format text, evidence_id uuid)
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    WITH due AS (
        SELECT n.credential_id FROM credential_announcement n
         WHERE n.settled_at IS NULL AND n.available_at <= clock_timestamp()
           AND (n.lease_until IS NULL OR n.lease_until < clock_timestamp())
         ORDER BY n.available_at LIMIT p_limit FOR UPDATE SKIP LOCKED),
    claimed AS (
        UPDATE credential_announcement n
           SET attempt = n.attempt + 1, lease_token = gen_random_uuid(),
               lease_until = clock_timestamp() + p_lease,
               first_attempt_at = coalesce(n.first_attempt_at, clock_timestamp())
          FROM due WHERE n.credential_id = due.credential_id
        RETURNING n.*)
    SELECT n.credential_id, n.lease_token, n.attempt, n.first_attempt_at, c.customer_id, cr.kind,
           cr.public_key, cr.created_at, cr.signature_format, cr.evidence_id
      FROM claimed n
      JOIN credential cr ON cr.id = n.credential_id
      JOIN customer c ON c.subject_id = cr.subject_id;
$$;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('claim_orders', 'claim_announcements') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
