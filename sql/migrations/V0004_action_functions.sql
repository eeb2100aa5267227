-- The functions that write actions. Each locks the customer's row first and checks everything under
-- locks before it writes anything. A lost race or a refusal is a returned status, never an error, so
-- that many of them can share one commit; an error means that something happened that never may.
--
-- 'lost_race' tells the caller that what it had read no longer holds: load again and decide again.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- A decision made on data older than this is made again.
CREATE FUNCTION decision_age_max() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '10 seconds' $$;

-- The newest policy whose time has come.
CREATE FUNCTION active_policy_version() RETURNS int LANGUAGE plpgsql VOLATILE
SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (SELECT version FROM policy WHERE active_from <= clock_timestamp()
             ORDER BY version DESC LIMIT 1);
END $$;

-- Whether the stored message still says what the stored action says, member by member. The service
-- checks the same when it loads; this repeats it under the locks of the deciding transaction.
CREATE FUNCTION message_matches(a action, message bytea, decision text, customer text,
    challenge uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    m jsonb := convert_from(message, 'UTF8')::jsonb;
    common jsonb := jsonb_build_object('action_id', a.id, 'challenge_id', challenge,
        'customer_id', customer, 'decision', decision, 'kind', a.kind, 'version', 'countersign/1');
BEGIN
    RETURN (m - 'audience' - 'nonce' - 'expires_at') = common || CASE a.kind
        WHEN 'transfer' THEN jsonb_build_object('amount', a.amount, 'currency', a.currency,
            'debtor_account', a.debtor_account, 'payee_name', a.payee_name,
            'payee_account', a.payee_account, 'reference', a.reference,
            'end_to_end_id', a.end_to_end_id)
        WHEN 'new_payee' THEN jsonb_build_object('payee_name', a.payee_name,
            'payee_account', a.payee_account, 'payee_alias', a.payee_alias)
        ELSE jsonb_build_object('channel', a.channel, 'old_value_digest', a.old_value_digest,
            'new_value', a.new_value)
        END;
END $$;

-- Appends the entries to the action's chain. The caller holds the action's row.
CREATE FUNCTION advance_action(p_action uuid, p_evidence jsonb, p_authorization text,
    p_execution text) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    entry record;
BEGIN
    entry := action_head_of(p_evidence, p_action);
    IF entry.added = 0 THEN
        RAISE EXCEPTION 'an action changes only with evidence' USING ERRCODE = 'CS005';
    END IF;
    UPDATE action SET "authorization" = coalesce(p_authorization, "authorization"),
           execution = coalesce(p_execution, execution),
           seq = seq + entry.added, head = entry.head, last_evidence_id = entry.last_id
     WHERE id = p_action;
END $$;

-- Appends the entries that name the credential to its chain. The caller holds the credential's row.
CREATE FUNCTION advance_credential(p_credential uuid, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    entry record;
BEGIN
    entry := credential_head_of(p_evidence, p_credential);
    IF entry.added > 0 THEN
        UPDATE credential SET seq = seq + entry.added, head = entry.head WHERE id = p_credential;
    END IF;
END $$;

-- Makes the customer known under a random subject with its own data key. Nothing happens when it is
-- known already.
CREATE FUNCTION ensure_customer(p_customer text, p_subject uuid, p_wrapped bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO customer (customer_id, subject_id) VALUES (p_customer, p_subject)
    ON CONFLICT (customer_id) DO NOTHING;
    IF FOUND THEN
        INSERT INTO subject_key (subject_id, wrapped) VALUES (p_subject, p_wrapped);
    END IF;
END $$;

-- 'created', 'idempotency_exists', 'external_id_exists' or 'too_many_open'.
-- p_action and p_challenge carry the rows' columns by name; p_open_max bounds the customer's live
-- challenges.
CREATE FUNCTION create_action(p_subject uuid, p_client uuid, p_route text, p_key text,
    p_fingerprint bytea, p_answer bytea, p_open_max int, p_action jsonb, p_challenge jsonb,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    new_action action := jsonb_populate_record(NULL::action, p_action);
    entry record;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    IF EXISTS (SELECT FROM idempotency
                WHERE client_id = p_client AND route = p_route AND key = p_key) THEN
        RETURN 'idempotency_exists';
    END IF;
    IF EXISTS (SELECT FROM action
                WHERE client_id = p_client AND external_id = new_action.external_id) THEN
        RETURN 'external_id_exists';
    END IF;
    IF (SELECT count(*) FROM action a JOIN challenge c ON c.action_id = a.id AND c.state = 'live'
         WHERE a.subject_id = p_subject AND a."authorization" = 'pending'
           AND c.expires_at > clock_timestamp()) >= p_open_max THEN
        RETURN 'too_many_open';
    END IF;
    INSERT INTO idempotency (client_id, route, key, fingerprint, status, answer)
    VALUES (p_client, p_route, p_key, p_fingerprint, 201, p_answer) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'idempotency_exists';
    END IF;
    PERFORM write_evidence(p_evidence);
    entry := action_head_of(p_evidence, new_action.id);
    new_action.subject_id := p_subject;
    new_action.client_id := p_client;
    new_action."authorization" := 'pending';
    new_action.execution := 'none';
    new_action.failures := 0;
    new_action.seq := entry.added;
    new_action.head := entry.head;
    new_action.last_evidence_id := entry.last_id;
    INSERT INTO action SELECT new_action.*;
    INSERT INTO challenge (id, action_id, nonce, approve_message, reject_message, created_at, expires_at)
    SELECT c.id, new_action.id, decode(c.nonce, 'hex'), decode(c.approve_message, 'hex'),
           decode(c.reject_message, 'hex'), c.created_at, c.expires_at
      FROM jsonb_to_record(p_challenge) AS c (id uuid, nonce text, approve_message text,
           reject_message text, created_at timestamptz, expires_at timestamptz);
    RETURN 'created';
END $$;

-- 'issued', 'lost_race' or 'too_many_open'. The earlier challenge is dead from here on.
CREATE FUNCTION issue_challenge(p_subject uuid, p_action uuid, p_seq int, p_open_max int,
    p_challenge jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM action WHERE id = p_action AND subject_id = p_subject AND seq = p_seq
        AND "authorization" = 'pending' AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    IF (SELECT count(*) FROM action a JOIN challenge c ON c.action_id = a.id AND c.state = 'live'
         WHERE a.subject_id = p_subject AND a.id <> p_action AND a."authorization" = 'pending'
           AND c.expires_at > clock_timestamp()) >= p_open_max THEN
        RETURN 'too_many_open';
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE challenge SET state = 'superseded' WHERE action_id = p_action AND state = 'live';
    INSERT INTO challenge (id, action_id, nonce, approve_message, reject_message, created_at, expires_at)
    SELECT c.id, p_action, decode(c.nonce, 'hex'), decode(c.approve_message, 'hex'),
           decode(c.reject_message, 'hex'), c.created_at, c.expires_at
      FROM jsonb_to_record(p_challenge) AS c (id uuid, nonce text, approve_message text,
           reject_message text, created_at timestamptz, expires_at timestamptz);
    PERFORM advance_action(p_action, p_evidence, NULL, NULL);
    RETURN 'issued';
END $$;

-- Checks and locks all that a decision with an assertion was made on: 'ok', 'lost_race', 'tampered'.
-- Locks in the one global order: customer, action, challenge, credential.
CREATE FUNCTION lock_for_decision(p_subject uuid, p_version bigint, p_policy_version int,
    p_action uuid, p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int,
    p_decided_at timestamptz, p_decision text, p_message bytea) RETURNS text
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    the_customer customer;
    the_action action;
    the_challenge challenge;
    the_credential credential;
    at timestamptz;
BEGIN
    SELECT * INTO the_customer FROM customer WHERE subject_id = p_subject FOR UPDATE;
    SELECT * INTO the_action FROM action WHERE id = p_action FOR UPDATE;
    SELECT * INTO the_challenge FROM challenge WHERE id = p_challenge FOR UPDATE;
    SELECT * INTO the_credential FROM credential WHERE id = p_credential FOR UPDATE;
    at := clock_timestamp();
    -- IS NOT TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    IF (the_customer.version = p_version
        AND coalesce(the_customer.locked_until <= at, true)
        AND p_decided_at BETWEEN at - decision_age_max() AND at
        AND active_policy_version() = p_policy_version
        AND the_action.subject_id = p_subject AND the_action."authorization" = 'pending'
        AND the_action.expires_at > at AND the_action.seq = p_seq
        AND the_challenge.action_id = p_action AND the_challenge.state = 'live'
        AND the_challenge.expires_at > at
        AND the_credential.subject_id = p_subject AND the_credential.status = 'active'
        AND the_credential.seq = p_credential_seq) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    IF (p_message = CASE p_decision WHEN 'approve' THEN the_challenge.approve_message
            ELSE the_challenge.reject_message END
        AND message_matches(the_action, p_message, p_decision, the_customer.customer_id, p_challenge))
        IS NOT TRUE THEN
        RETURN 'tampered';
    END IF;
    RETURN 'ok';
END $$;

-- 'approved', 'lost_race' or 'tampered'.
-- p_payee: id, usable_at and new_until of the payee that a new_payee action adds.
CREATE FUNCTION approve_action(p_subject uuid, p_version bigint, p_policy_version int,
    p_action uuid, p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int,
    p_decided_at timestamptz, p_message bytea, p_signature bytea, p_client_data_json bytea,
    p_authenticator_data bytea, p_assertion_digest bytea, p_sign_count bigint,
    p_backup_state boolean, p_bank_day date, p_hold_until timestamptz, p_hold_rule text,
    p_dimensions text[], p_windows date[], p_amounts bigint[], p_caps bigint[], p_payee jsonb,
    p_contact_hold_until timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
        p_challenge, p_credential, p_credential_seq, p_decided_at, 'approve', p_message);
    new_execution text := CASE WHEN p_hold_until IS NULL THEN 'ready' ELSE 'held' END;
    entry record;
BEGIN
    IF checked <> 'ok' THEN
        RETURN checked;
    END IF;
    IF p_bank_day <> (SELECT (clock_timestamp() AT TIME ZONE time_zone)::date
                        FROM policy WHERE version = p_policy_version)
        OR EXISTS (SELECT FROM unnest(p_dimensions, p_windows, p_amounts, p_caps)
                          AS r (dimension, window_start, amount, cap)
                     LEFT JOIN counter c ON c.subject_id = p_subject
                          AND c.dimension = r.dimension AND c.window_start = r.window_start
                    WHERE coalesce(c.used, 0) + r.amount > r.cap) THEN
        RETURN 'lost_race';
    END IF;

    PERFORM write_evidence(p_evidence);
    entry := action_head_of(p_evidence, p_action);
    UPDATE action SET "authorization" = 'approved', execution = new_execution,
           hold_until = p_hold_until, hold_rule = p_hold_rule,
           seq = seq + entry.added, head = entry.head, last_evidence_id = entry.last_id
     WHERE id = p_action;
    UPDATE challenge SET state = 'consumed' WHERE id = p_challenge;
    UPDATE credential SET sign_count = p_sign_count, backup_state = p_backup_state
     WHERE id = p_credential;
    PERFORM advance_credential(p_credential, p_evidence);
    INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest,
           assertion_digest, execution, hold_until, hold_rule, evidence_id, leaf_hash, decided_at)
    SELECT p_action, 'approved', p_challenge, p_credential, sha256(p_message), p_assertion_digest,
           new_execution, p_hold_until, p_hold_rule, e.id, e.leaf_hash, p_decided_at
      FROM evidence e WHERE e.id = (p_evidence -> 0 ->> 'id')::uuid;
    INSERT INTO execution_order (action_id, message, message_digest, signature, client_data_json,
           authenticator_data, available_at)
    VALUES (p_action, p_message, sha256(p_message), p_signature, p_client_data_json,
            p_authenticator_data, coalesce(p_hold_until, p_decided_at));
    INSERT INTO counter AS c (subject_id, dimension, window_start, used, cap)
    SELECT p_subject, r.dimension, r.window_start, r.amount, r.cap
      FROM unnest(p_dimensions, p_windows, p_amounts, p_caps)
           AS r (dimension, window_start, amount, cap)
    ON CONFLICT (subject_id, dimension, window_start)
        DO UPDATE SET used = c.used + excluded.used, cap = excluded.cap;
    INSERT INTO reservation (action_id, dimension, window_start, amount)
    SELECT p_action, r.dimension, r.window_start, r.amount
      FROM unnest(p_dimensions, p_windows, p_amounts) AS r (dimension, window_start, amount);
    IF p_payee IS NOT NULL THEN
        PERFORM confirm_payee(p_subject, p_action, p_decided_at, p_payee);
    END IF;
    UPDATE customer SET version = version + 1, failures = 0,
           contact_hold_until = greatest(contact_hold_until, p_contact_hold_until)
     WHERE subject_id = p_subject;
    RETURN 'approved';
END $$;

-- Confirms a payee. An active one keeps its times: confirming it again neither restarts nor shortens
-- a cooling-off. A removed one starts anew, as if it had never been there.
CREATE FUNCTION confirm_payee(p_subject uuid, p_action uuid, p_at timestamptz, p_payee jsonb)
RETURNS void LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    INSERT INTO payee AS p (id, subject_id, account, name, alias, action_id, confirmed_at, usable_at,
           new_until)
    SELECT (p_payee ->> 'id')::uuid, p_subject, a.payee_account, a.payee_name, a.payee_alias, a.id,
           p_at, (p_payee ->> 'usable_at')::timestamptz, (p_payee ->> 'new_until')::timestamptz
      FROM action a WHERE a.id = p_action
    ON CONFLICT (subject_id, account) DO UPDATE SET
        name = excluded.name, alias = excluded.alias, status = 'active',
        action_id = CASE p.status WHEN 'active' THEN p.action_id ELSE excluded.action_id END,
        confirmed_at = CASE p.status WHEN 'active' THEN p.confirmed_at ELSE excluded.confirmed_at END,
        usable_at = CASE p.status WHEN 'active' THEN p.usable_at ELSE excluded.usable_at END,
        new_until = CASE p.status WHEN 'active' THEN p.new_until ELSE excluded.new_until END,
        first_executed_at = CASE p.status WHEN 'active' THEN p.first_executed_at END;
$$;

-- 'rejected', 'lost_race' or 'tampered'. Without p_credential the rejection is unsigned: then it also
-- works while the customer is locked, since it can only stop something.
CREATE FUNCTION reject_action(p_subject uuid, p_version bigint, p_policy_version int, p_action uuid,
    p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int, p_decided_at timestamptz,
    p_message bytea, p_assertion_digest bytea, p_sign_count bigint, p_backup_state boolean,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text;
BEGIN
    IF p_credential IS NOT NULL THEN
        checked := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
            p_challenge, p_credential, p_credential_seq, p_decided_at, 'reject', p_message);
        IF checked <> 'ok' THEN
            RETURN checked;
        END IF;
    ELSE
        PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
        PERFORM 1 FROM action WHERE id = p_action AND subject_id = p_subject AND seq = p_seq
            AND "authorization" = 'pending' AND expires_at > clock_timestamp() FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, 'rejected', NULL);
    UPDATE challenge SET state = CASE WHEN id = p_challenge THEN 'consumed' ELSE 'void' END
     WHERE action_id = p_action AND state = 'live';
    INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest,
           assertion_digest, execution, evidence_id, leaf_hash, decided_at)
    SELECT p_action, 'rejected', p_challenge, p_credential, sha256(coalesce(p_message, '')),
           p_assertion_digest, 'none', e.id, e.leaf_hash, p_decided_at
      FROM evidence e WHERE e.id = (p_evidence -> 0 ->> 'id')::uuid;
    IF p_credential IS NOT NULL THEN
        UPDATE credential SET sign_count = p_sign_count, backup_state = p_backup_state
         WHERE id = p_credential;
        PERFORM advance_credential(p_credential, p_evidence);
        UPDATE customer SET failures = 0 WHERE subject_id = p_subject;
    END IF;
    RETURN 'rejected';
END $$;

-- 'refused', 'lost_race' or 'tampered': a good proof of something that the policy does not allow.
-- The challenge is spent, nothing is reserved, the action stays pending.
CREATE FUNCTION refuse_action(p_subject uuid, p_version bigint, p_policy_version int, p_action uuid,
    p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int, p_decided_at timestamptz,
    p_message bytea, p_sign_count bigint, p_backup_state boolean, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
        p_challenge, p_credential, p_credential_seq, p_decided_at, 'approve', p_message);
BEGIN
    IF checked <> 'ok' THEN
        RETURN checked;
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, NULL, NULL);
    UPDATE challenge SET state = 'consumed' WHERE id = p_challenge;
    UPDATE credential SET sign_count = p_sign_count, backup_state = p_backup_state
     WHERE id = p_credential;
    PERFORM advance_credential(p_credential, p_evidence);
    UPDATE customer SET failures = 0 WHERE subject_id = p_subject;
    RETURN 'refused';
END $$;

-- 'recorded' or 'lost_race'. An attempt counts here, under the customer's lock, and only while the
-- customer is not locked and the challenge is live; the counts must be those that were read.
CREATE FUNCTION record_failure(p_subject uuid, p_customer_failures int, p_action uuid, p_seq int,
    p_challenge uuid, p_challenge_exhausted boolean, p_action_failed boolean,
    p_credential uuid, p_credential_seq int, p_locked_until timestamptz, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject AND failures = p_customer_failures
        AND (locked_until IS NULL OR locked_until <= clock_timestamp()) FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM action WHERE id = p_action AND subject_id = p_subject AND seq = p_seq
        AND "authorization" = 'pending' AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM challenge WHERE id = p_challenge AND action_id = p_action AND state = 'live'
        AND expires_at > clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    IF p_credential IS NOT NULL THEN
        PERFORM 1 FROM credential WHERE id = p_credential AND seq = p_credential_seq FOR UPDATE;
        IF NOT FOUND THEN
            RETURN 'lost_race';
        END IF;
    END IF;
    PERFORM write_evidence(p_evidence);
    UPDATE challenge SET failures = failures + 1,
           state = CASE WHEN p_action_failed OR p_challenge_exhausted THEN 'exhausted' ELSE state END
     WHERE id = p_challenge;
    PERFORM advance_action(p_action, p_evidence,
        CASE WHEN p_action_failed THEN 'failed' END, NULL);
    UPDATE action SET failures = failures + 1 WHERE id = p_action;
    IF p_credential IS NOT NULL THEN
        PERFORM advance_credential(p_credential, p_evidence);
    END IF;
    UPDATE customer SET
           failures = CASE WHEN p_locked_until IS NULL THEN failures + 1 ELSE 0 END,
           locked_until = coalesce(p_locked_until, locked_until)
     WHERE subject_id = p_subject;
    RETURN 'recorded';
END $$;

-- 'recorded' or 'lost_race': the stored message and the stored action disagree. Every live challenge
-- of the action is dead; the action itself stays as it was found.
CREATE FUNCTION record_tampering(p_subject uuid, p_action uuid, p_seq int, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM action WHERE id = p_action AND seq = p_seq FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, NULL, NULL);
    UPDATE challenge SET state = 'void' WHERE action_id = p_action AND state = 'live';
    RETURN 'recorded';
END $$;

-- Gives back what an action reserved, once.
CREATE FUNCTION return_reservations(p_subject uuid, p_action uuid) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    WITH returned AS (
        UPDATE reservation SET returned_at = clock_timestamp()
         WHERE action_id = p_action AND returned_at IS NULL
        RETURNING dimension, window_start, amount)
    UPDATE counter c SET used = c.used - r.amount
      FROM returned r
     WHERE c.subject_id = p_subject AND c.dimension = r.dimension
       AND c.window_start = r.window_start;
$$;

-- Removes the payee that this action confirmed; the holds it caused stay.
CREATE FUNCTION withdraw_payee(p_action uuid) RETURNS void
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    UPDATE payee SET status = 'removed' WHERE action_id = p_action AND status = 'active';
$$;

-- Cancels the execution of an approved action that was never tried. The caller holds the customer's
-- row; false when a delivery was quicker.
CREATE FUNCTION cancel_execution(p_subject uuid, p_action uuid, p_evidence jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    UPDATE execution_order SET settled_at = clock_timestamp()
     WHERE action_id = p_action AND attempt = 0 AND settled_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM advance_action(p_action, p_evidence, NULL, 'cancelled');
    PERFORM return_reservations(p_subject, p_action);
    PERFORM withdraw_payee(p_action);
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN true;
END $$;

-- 'cancelled' or 'lost_race'. A pending action, or an approved one that is held or ready and was
-- never tried: whether delivery or cancel wins is decided by the lock on the order's row.
CREATE FUNCTION cancel_action(p_subject uuid, p_action uuid, p_seq int, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_action action;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = p_action FOR UPDATE;
    SELECT * INTO the_action FROM action WHERE id = p_action AND seq = p_seq FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    IF the_action."authorization" = 'pending' AND the_action.expires_at > clock_timestamp() THEN
        PERFORM write_evidence(p_evidence);
        PERFORM advance_action(p_action, p_evidence, 'cancelled', NULL);
        UPDATE challenge SET state = 'void' WHERE action_id = p_action AND state = 'live';
        RETURN 'cancelled';
    ELSIF the_action.execution IN ('held', 'ready') AND EXISTS (SELECT FROM execution_order
            WHERE action_id = p_action AND attempt = 0 AND settled_at IS NULL) THEN
        PERFORM write_evidence(p_evidence);
        PERFORM cancel_execution(p_subject, p_action, p_evidence);
        RETURN 'cancelled';
    END IF;
    RETURN 'lost_race';
END $$;

-- 'expired' or 'lost_race'.
CREATE FUNCTION expire_action(p_subject uuid, p_action uuid, p_seq int, p_evidence jsonb)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM action WHERE id = p_action AND seq = p_seq AND "authorization" = 'pending'
        AND expires_at <= clock_timestamp() FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM write_evidence(p_evidence);
    PERFORM advance_action(p_action, p_evidence, 'expired', NULL);
    UPDATE challenge SET state = 'void' WHERE action_id = p_action AND state = 'live';
    RETURN 'expired';
END $$;

-- 'released', 'cancelled' or 'lost_race'. A held action whose time has come; it is cancelled instead
-- when p_cancel, which the caller found by evaluating it again.
CREATE FUNCTION release_action(p_subject uuid, p_version bigint, p_action uuid, p_seq int,
    p_cancel boolean, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
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
    PERFORM write_evidence(p_evidence);
    IF p_cancel THEN
        PERFORM cancel_execution(p_subject, p_action, p_evidence);
        RETURN 'cancelled';
    END IF;
    PERFORM advance_action(p_action, p_evidence, NULL, 'ready');
    RETURN 'released';
END $$;
RESET ROLE;
