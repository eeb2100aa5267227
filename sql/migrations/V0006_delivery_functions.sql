-- The functions of delivery to core banking. A claim locks order rows only and skips locked ones;
-- settling locks the customer first, like every other writer.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Takes up to p_limit orders that are due, each under a fresh lease of its own.
CREATE FUNCTION claim_orders(p_limit int, p_lease interval) RETURNS TABLE (
    action_id uuid, lease_token uuid, attempt int, first_attempt_at timestamptz)
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
           FOR UPDATE OF o SKIP LOCKED)
    UPDATE execution_order o
       SET attempt = o.attempt + 1, lease_token = gen_random_uuid(),
           lease_until = clock_timestamp() + p_lease,
           first_attempt_at = coalesce(o.first_attempt_at, clock_timestamp())
      FROM due WHERE o.action_id = due.action_id
    RETURNING o.action_id, o.lease_token, o.attempt, o.first_attempt_at;
$$;

-- The same for announcements of enrolled keys.
CREATE FUNCTION claim_announcements(p_limit int, p_lease interval) RETURNS TABLE (
    credential_id uuid, lease_token uuid, attempt int, first_attempt_at timestamptz)
LANGUAGE sql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    WITH due AS (
        SELECT n.credential_id FROM credential_announcement n
         WHERE n.settled_at IS NULL AND n.available_at <= clock_timestamp()
           AND (n.lease_until IS NULL OR n.lease_until < clock_timestamp())
         ORDER BY n.available_at LIMIT p_limit FOR UPDATE SKIP LOCKED)
    UPDATE credential_announcement n
       SET attempt = n.attempt + 1, lease_token = gen_random_uuid(),
           lease_until = clock_timestamp() + p_lease,
           first_attempt_at = coalesce(n.first_attempt_at, clock_timestamp())
      FROM due WHERE n.credential_id = due.credential_id
    RETURNING n.credential_id, n.lease_token, n.attempt, n.first_attempt_at;
$$;

-- False means that the lease was lost: another instance has the item now.
CREATE FUNCTION retry_order(p_action uuid, p_token uuid, p_after interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE execution_order SET lease_token = NULL, lease_until = NULL,
           available_at = clock_timestamp() + p_after
     WHERE action_id = p_action AND lease_token = p_token AND settled_at IS NULL;
    RETURN FOUND;
END $$;

CREATE FUNCTION retry_announcement(p_credential uuid, p_token uuid, p_after interval)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE credential_announcement SET lease_token = NULL, lease_until = NULL,
           available_at = clock_timestamp() + p_after
     WHERE credential_id = p_credential AND lease_token = p_token AND settled_at IS NULL;
    RETURN FOUND;
END $$;

CREATE FUNCTION settle_announcement(p_credential uuid, p_token uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE credential_announcement SET settled_at = clock_timestamp(), lease_token = NULL
     WHERE credential_id = p_credential AND lease_token = p_token AND settled_at IS NULL;
    RETURN FOUND;
END $$;

-- 'settled', 'lost_lease' or 'lost_race'. The receipt, its evidence and what follows from it.
CREATE FUNCTION settle_order(p_subject uuid, p_action uuid, p_seq int, p_token uuid,
    p_status text, p_reference text, p_reason text, p_raw bytea, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_action action;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = p_action AND lease_token = p_token
        AND settled_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_lease';
    END IF;
    SELECT * INTO the_action FROM action WHERE id = p_action AND seq = p_seq
        AND execution IN ('ready', 'unknown') FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, NULL, p_status);
    UPDATE execution_order SET settled_at = clock_timestamp(), lease_token = NULL, lease_until = NULL
     WHERE action_id = p_action;
    INSERT INTO receipt (action_id, status, reference, reason, raw, evidence_id, received_at)
    VALUES (p_action, p_status, p_reference, p_reason, p_raw, (p_evidence -> 0 ->> 'id')::uuid,
            clock_timestamp());
    IF p_status = 'refused' THEN
        PERFORM return_reservations(p_subject, p_action);
        PERFORM withdraw_payee(p_action);
    ELSIF the_action.kind = 'transfer' THEN
        UPDATE payee SET first_executed_at = coalesce(first_executed_at, clock_timestamp())
         WHERE subject_id = p_subject AND account = the_action.payee_account;
    END IF;
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'settled';
END $$;

-- 'settled', 'lost_lease' or 'lost_race'. Retries are used up: the state is unknown until core
-- banking, asked again and again, says what it did.
CREATE FUNCTION mark_order_unknown(p_subject uuid, p_action uuid, p_seq int, p_token uuid,
    p_after interval, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = p_action AND lease_token = p_token
        AND settled_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_lease';
    END IF;
    PERFORM 1 FROM action WHERE id = p_action AND seq = p_seq AND execution = 'ready' FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, NULL, 'unknown');
    -- From here on it is only asked about, and that is counted anew.
    UPDATE execution_order SET lease_token = NULL, lease_until = NULL, attempt = 0,
           available_at = clock_timestamp() + p_after
     WHERE action_id = p_action;
    RETURN 'settled';
END $$;
RESET ROLE;
