-- Requests that customers' phones sign: the nonces of those that were accepted, and how strictly each
-- credential's requests are judged.
-- Deployment: new tables and functions only; no lock on old data.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- A request is accepted when its time is at most this many seconds from the database's, either way.
CREATE FUNCTION device_request_window() RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT 300 $$;

-- How long an accepted request is remembered. A phone whose clock is fast signs for a time to come, so
-- a request can be good for two windows after it was seen; the third is for clocks that are set back.
CREATE FUNCTION device_request_memory() RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT make_interval(secs => 3 * countersign.device_request_window())
$$;

-- An accepted request. Logged as every table: a crash must not forget it, or it could come again.
-- No foreign key: its check would lock the credential's row at every request of a phone.
CREATE TABLE device_request (
    credential_id      uuid NOT NULL,
    nonce              text COLLATE "C" NOT NULL CONSTRAINT device_request_nonce_form
                       CHECK (nonce ~ '^[A-Za-z0-9._~+/=-]{8,128}$'),
    -- The call that accepted it, so that it can tell its own doing from another's.
    id                 uuid NOT NULL,
    seen_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The evidence of its first replay; further ones say nothing new.
    replay_evidence_id uuid,
    CONSTRAINT device_request_pkey PRIMARY KEY (credential_id, nonce)
);
CREATE INDEX device_request_by_time ON device_request (seen_at);
CREATE INDEX device_request_replayed ON device_request (credential_id)
    WHERE replay_evidence_id IS NOT NULL;

-- What is set for one credential; without a row the setting device_requests.mode holds.
CREATE TABLE request_signing (
    credential_id uuid PRIMARY KEY REFERENCES credential (id),
    mode          text NOT NULL CONSTRAINT request_signing_mode CHECK (mode IN ('enforce', 'log_only'))
);

-- 'accepted' or 'lost_race'. p_timestamp is the phone's, in seconds since 1970. The time is judged here
-- again, so that no copy that was held back can outlive the memory of its nonce; and the credential,
-- so that a revocation is effective in the very next request. A copy that is being accepted is waited
-- for: the primary key lets one of them in.
CREATE FUNCTION accept_device_request(p_credential uuid, p_nonce text, p_request uuid,
    p_timestamp bigint) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    INSERT INTO device_request (credential_id, nonce, id)
    SELECT c.id, p_nonce, p_request FROM credential c
     WHERE c.id = p_credential AND c.kind = 'device_key' AND c.status = 'active'
       AND abs(floor(extract(epoch FROM clock_timestamp())) - p_timestamp) <= device_request_window()
    ON CONFLICT DO NOTHING;
    RETURN CASE WHEN FOUND THEN 'accepted' ELSE 'lost_race' END;
END $$;

-- Locks a credential to continue its chain: the customer's row first, as everywhere. False for a lost
-- race.
CREATE FUNCTION lock_credential_at(p_subject uuid, p_credential uuid, p_seq int) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    PERFORM 1 FROM credential WHERE id = p_credential AND subject_id = p_subject AND seq = p_seq
        FOR UPDATE;
    RETURN FOUND;
END $$;

-- 'recorded' or 'lost_race': the first replay of an accepted request.
CREATE FUNCTION record_device_request_replay(p_subject uuid, p_credential uuid, p_seq int,
    p_nonce text, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT lock_credential_at(p_subject, p_credential, p_seq) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM 1 FROM device_request WHERE credential_id = p_credential AND nonce = p_nonce
        AND replay_evidence_id IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_evidence(p_evidence, 'request.replayed', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE device_request SET replay_evidence_id = (p_evidence -> 0 ->> 'id')::uuid
     WHERE credential_id = p_credential AND nonce = p_nonce;
    PERFORM advance_credential(p_credential, p_evidence);
    RETURN 'recorded';
END $$;

-- 'set' or 'lost_race'. p_mode is NULL for what holds for all. The mode is what it was when the
-- credential's chain had the length p_seq: every change of it makes that longer.
CREATE FUNCTION set_request_signing(p_subject uuid, p_credential uuid, p_seq int, p_mode text,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT lock_credential_at(p_subject, p_credential, p_seq) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_evidence(p_evidence, 'request.configured', p_subject);
    PERFORM write_evidence(p_evidence);
    IF p_mode IS NULL THEN
        DELETE FROM request_signing WHERE credential_id = p_credential;
    ELSE
        INSERT INTO request_signing (credential_id, mode) VALUES (p_credential, p_mode)
        ON CONFLICT (credential_id) DO UPDATE SET mode = excluded.mode;
    END IF;
    PERFORM advance_credential(p_credential, p_evidence);
    RETURN 'set';
END $$;

-- Forgets at most p_max accepted requests that can no longer be good, and tells how many. Several
-- instances may do it at once: each takes others.
CREATE FUNCTION forget_device_requests(p_max int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    forgotten bigint;
BEGIN
    WITH old AS (
        SELECT credential_id, nonce FROM device_request
         WHERE seen_at < clock_timestamp() - device_request_memory()
         ORDER BY seen_at LIMIT p_max FOR UPDATE SKIP LOCKED)
    DELETE FROM device_request d USING old
     WHERE d.credential_id = old.credential_id AND d.nonce = old.nonce;
    GET DIAGNOSTICS forgotten = ROW_COUNT;
    RETURN forgotten;
END $$;

GRANT SELECT, INSERT, DELETE ON device_request, request_signing TO countersign_definer;
GRANT UPDATE (replay_evidence_id) ON device_request TO countersign_definer;
GRANT UPDATE (mode) ON request_signing TO countersign_definer;
GRANT SELECT ON device_request, request_signing TO countersign_service;
GRANT EXECUTE ON FUNCTION device_request_window, device_request_memory, lock_credential_at
    TO countersign_definer;
GRANT EXECUTE ON FUNCTION device_request_window, device_request_memory TO countersign_service;
RESET ROLE;

DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('accept_device_request', 'record_device_request_replay',
                                  'set_request_signing', 'forget_device_requests') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
