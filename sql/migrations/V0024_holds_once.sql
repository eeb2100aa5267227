-- A hold is decided once, and what stands against its release is asked again under the locks of it.
-- Deployment: functions only.

-- It writes as the definer, who owns it; the owner replaces it.
ALTER FUNCTION countersign.release_action OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0013, and a hold is what was decided.
CREATE OR REPLACE FUNCTION guard_action() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    entry record;
BEGIN
    IF (new.id, new.subject_id, new.client_id, new.external_id, new.kind, new.amount,
        new.amount_minor, new.currency, new.debtor_account, new.payee_name, new.payee_account,
        new.payee_alias, new.reference, new.end_to_end_id, new.channel, new.old_value_digest,
        new.new_value, new.limit_name, new.risk, new.policy_version, new.created_at, new.expires_at)
       IS DISTINCT FROM
       (old.id, old.subject_id, old.client_id, old.external_id, old.kind, old.amount,
        old.amount_minor, old.currency, old.debtor_account, old.payee_name, old.payee_account,
        old.payee_alias, old.reference, old.end_to_end_id, old.channel, old.old_value_digest,
        old.new_value, old.limit_name, old.risk, old.policy_version, old.created_at, old.expires_at) THEN
        RAISE EXCEPTION 'the content of an action is immutable' USING ERRCODE = 'CS003';
    END IF;
    -- How long it is held, and what that comes to, is decided once, with the approval.
    IF NOT (old."authorization" = 'pending' AND new."authorization" = 'approved')
        AND (new.hold_until, new.hold_rule, new.hold_end, new.payee_unknown, new.limit_before)
            IS DISTINCT FROM
            (old.hold_until, old.hold_rule, old.hold_end, old.payee_unknown, old.limit_before) THEN
        RAISE EXCEPTION 'a hold is what was decided' USING ERRCODE = 'CS003';
    END IF;
    IF new."authorization" <> old."authorization" AND old."authorization" <> 'pending' THEN
        RAISE EXCEPTION 'authorization is final' USING ERRCODE = 'CS004';
    END IF;
    IF new.execution <> old.execution AND (old.execution, new.execution) NOT IN (
        ('none', 'held'), ('none', 'ready'), ('held', 'ready'), ('held', 'cancelled'),
        ('ready', 'cancelled'), ('ready', 'executed'), ('ready', 'refused'), ('ready', 'unknown'),
        ('unknown', 'executed'), ('unknown', 'refused')) THEN
        RAISE EXCEPTION 'illegal execution transition' USING ERRCODE = 'CS004';
    END IF;
    IF new."authorization" <> old."authorization" OR new.execution <> old.execution THEN
        SELECT e.action_id, e.xid, e.leaf_hash INTO entry
          FROM evidence e WHERE e.id = new.last_evidence_id;
        IF entry.action_id IS DISTINCT FROM new.id OR entry.xid <> pg_current_xact_id()
            OR entry.leaf_hash <> new.head OR new.seq <= old.seq THEN
            RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
        END IF;
    END IF;
    RETURN new;
END $$;

-- As in V0013, but that it asks again what stands against a release.
CREATE OR REPLACE FUNCTION release_action(p_subject uuid, p_version bigint, p_action uuid, p_seq int,
    p_cancel boolean, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    stands record;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND version = p_version FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM execution_order WHERE action_id = p_action FOR UPDATE;
    PERFORM 1 FROM action WHERE id = p_action AND seq = p_seq AND execution = 'held'
        AND hold_until <= clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    -- Asked again under the locks: the key of an officer may have ended since, which locks no customer.
    SELECT * INTO stands FROM against_release(p_action);
    IF payee_is_awaited(p_action)
        OR NOT p_cancel AND (stands.credential_end IS NULL AND NOT stands.payee_is_gone
            AND stands.limit_lowered IS NULL AND NOT stands.assisted_hold_lasts) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    IF p_cancel THEN
        PERFORM cancel_execution(p_subject, p_action, p_evidence);
        RETURN 'cancelled';
    END IF;
    PERFORM release_execution(p_subject, p_action, p_evidence);
    RETURN 'released';
END $$;
RESET ROLE;

-- As in V0008.
REVOKE EXECUTE ON FUNCTION countersign.release_action FROM PUBLIC;
ALTER FUNCTION countersign.release_action OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.release_action TO countersign_service;
