-- An import of payees needs two people of the risk team outside development: each row is compared with what
-- they signed. The unsigned form is for databases that were made for development.
-- Deployment: new tables and functions only. `countersign migrate` then says whether this is development.
--
-- Locks: the customer, as before. An act that is done never changes again, so it is only read.

ALTER FUNCTION countersign.import_payee(uuid, uuid, text, text, text, timestamptz, jsonb)
    OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- What kind of installation this database belongs to: one row, by `countersign migrate`, as the owner.
CREATE TABLE installation (
    is_one         boolean PRIMARY KEY DEFAULT true CONSTRAINT installation_is_one CHECK (is_one),
    is_development boolean NOT NULL
);
-- Development ends once: what customers' payees were imported into never takes unsigned ones again.
CREATE TRIGGER no_return BEFORE UPDATE ON installation FOR EACH ROW
    WHEN (new.is_development AND NOT old.is_development) EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_change BEFORE DELETE ON installation FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON installation
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE installation ENABLE ALWAYS TRIGGER no_return, ENABLE ALWAYS TRIGGER no_change,
    ENABLE ALWAYS TRIGGER no_truncate;

-- Says whether this is development, and returns what holds: never once it was said not to be. The owner's
-- alone to call.
CREATE FUNCTION state_installation(p_is_development boolean) RETURNS boolean
LANGUAGE sql SET search_path = countersign, pg_temp AS $$
    INSERT INTO installation AS i (is_development) VALUES (p_is_development)
    ON CONFLICT (is_one) DO UPDATE SET is_development = i.is_development AND excluded.is_development
    RETURNING is_development
$$;

CREATE FUNCTION is_development() RETURNS boolean
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT coalesce((SELECT is_development FROM installation), false)
$$;

-- A row that was imported under an act: each once, also when the customer has removed the payee since.
CREATE TABLE payee_import (
    act_id      uuid NOT NULL REFERENCES act (id),
    row_digest  bytea NOT NULL CONSTRAINT payee_import_digest_size CHECK (octet_length(row_digest) = 32),
    imported_at timestamptz NOT NULL,
    -- The new payee and its evidence; NULL where the payee was there already.
    payee_id    uuid, evidence_id uuid UNIQUE,
    PRIMARY KEY (act_id, row_digest),
    CONSTRAINT payee_import_told CHECK ((payee_id IS NULL) = (evidence_id IS NULL))
);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON payee_import
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON payee_import
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE payee_import ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- SHA-256 of a row in the canonical form of RFC 8785; see PayeeRow in Swift. NULL when a value is missing.
-- These texts hold no control characters, so that to_json writes them as the RFC does.
CREATE FUNCTION payee_row_digest(p_customer text, p_account text, p_name text, p_alias text,
    p_salt text) RETURNS bytea
LANGUAGE sql STABLE STRICT SET search_path = countersign, pg_temp AS $$
    SELECT sha256(convert_to(format(
        '{"account":%s,"alias":%s,"customer_id":%s,"name":%s,"salt":%s,"version":"countersign/payee-row/1"}',
        to_json(p_account), to_json(p_alias), to_json(p_customer), to_json(p_name), to_json(p_salt)), 'UTF8'))
$$;

-- Whether two people have signed that this row is imported, not long ago, with keys that are still good.
CREATE FUNCTION is_import_signed(p_act uuid, p_digest bytea) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN EXISTS (SELECT FROM act a
        WHERE a.id = p_act AND a.kind = 'payee.import' AND a.state = 'done'
          AND a.closed_at > clock_timestamp() - interval '7 days'
          AND convert_from(a.document, 'UTF8')::jsonb -> 'rows' ? encode(p_digest, 'hex')
          AND cardinality(signers_of(a.id)) >= a.signatures_needed);
END $$;

-- When a payee was removed; NULL for what was removed before this was kept.
ALTER TABLE payee ADD COLUMN removed_at timestamptz;
CREATE FUNCTION stamp_payee() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    new.removed_at := CASE WHEN new.status = 'removed' THEN clock_timestamp() END;
    RETURN new;
END $$;
CREATE TRIGGER stamp BEFORE UPDATE OF status ON payee FOR EACH ROW
    WHEN (new.status <> old.status) EXECUTE FUNCTION stamp_payee();

DROP FUNCTION import_payee(uuid, uuid, text, text, text, timestamptz, jsonb);

-- 'imported', 'exists' or 'not_signed'. An existing payee of the bank: established from the start. p_act is
-- the act under which the row is imported, and p_salt the row's; NULL only in development. What is compared
-- with the act is made of the very values that are written.
CREATE FUNCTION import_payee(p_subject uuid, p_payee uuid, p_account text, p_name text,
    p_alias text, p_at timestamptz, p_evidence jsonb, p_act uuid, p_salt text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    digest bytea;
    is_new boolean;
BEGIN
    PERFORM 1 FROM customer WHERE subject_id = p_subject FOR UPDATE;
    -- When it was imported is no matter of opinion: a recovery asks how old a payee is.
    IF (p_at BETWEEN clock_timestamp() - decision_age_max() AND clock_timestamp()) IS NOT TRUE THEN
        RAISE EXCEPTION 'a payee is imported now' USING ERRCODE = 'CS002';
    END IF;
    IF p_act IS NULL THEN
        IF NOT is_development() THEN RETURN 'not_signed'; END IF;
    ELSE
        digest := payee_row_digest((SELECT customer_id FROM customer WHERE subject_id = p_subject),
            p_account, p_name, p_alias, p_salt);
        -- The same row again waits for the customer's row, and finds what the first one wrote.
        IF EXISTS (SELECT FROM payee_import WHERE act_id = p_act AND row_digest = digest) THEN
            RETURN 'exists';
        END IF;
        IF is_import_signed(p_act, digest) IS NOT TRUE THEN RETURN 'not_signed'; END IF;
    END IF;
    -- A payee whose confirmation has lapsed is as good as removed, as for confirm_payee in V0017.
    UPDATE payee SET status = 'removed' WHERE subject_id = p_subject AND account = p_account
       AND status = 'active' AND confirmation_has_lapsed(action_id, clock_timestamp());
    INSERT INTO payee AS p (id, subject_id, account, name, alias, confirmed_at, usable_at, new_until,
           first_executed_at)
    VALUES (p_payee, p_subject, p_account, p_name, p_alias, p_at, p_at, p_at, p_at)
    ON CONFLICT (subject_id, account) DO UPDATE SET id = excluded.id, name = excluded.name,
        alias = excluded.alias, status = 'active', action_id = NULL,
        confirmed_at = excluded.confirmed_at, usable_at = excluded.usable_at,
        new_until = excluded.new_until, first_executed_at = excluded.first_executed_at
        -- What was removed after this was proposed to be signed stays removed.
        WHERE p.status = 'removed' AND (p_act IS NULL OR p.removed_at IS NULL
              OR confirmation_has_lapsed(p.action_id, clock_timestamp())
              OR p.removed_at < (SELECT created_at FROM act WHERE id = p_act));
    is_new := FOUND;
    IF p_act IS NOT NULL THEN
        INSERT INTO payee_import (act_id, row_digest, imported_at, payee_id, evidence_id)
        VALUES (p_act, digest, clock_timestamp(), CASE WHEN is_new THEN p_payee END,
                CASE WHEN is_new THEN (p_evidence -> 0 ->> 'id')::uuid END);
    END IF;
    IF NOT is_new THEN RETURN 'exists'; END IF;
    PERFORM demand_evidence(p_evidence, 'payee.imported', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'imported';
END $$;

-- 'done' or 'lost_race': the last signature of an act payee.import, under which the operator may import now.
CREATE FUNCTION allow_import(p_signature jsonb, p_key_state jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT take_act_signature(ARRAY['payee.import'], true, p_signature, p_key_state,
            (p_evidence -> 0 ->> 'id')::uuid) THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['act.approved']);
    PERFORM write_evidence(p_evidence);
    PERFORM close_act((p_signature ->> 'act_id')::uuid, 'done', p_evidence);
    RETURN 'done';
END $$;

-- An act under which payees may be imported, for the operator, who reads no other act: their documents
-- name customers, accounts and amounts.
REVOKE SELECT ON act FROM countersign_operator, countersign_auditor;
CREATE FUNCTION read_import_act(p_act uuid) RETURNS TABLE (state text, document bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
    SELECT state, document FROM act WHERE id = p_act AND kind = 'payee.import'
$$;

GRANT SELECT ON installation, payee_import TO countersign_definer, countersign_operator, countersign_auditor;
GRANT INSERT ON payee_import TO countersign_definer;
GRANT EXECUTE ON FUNCTION is_development, payee_row_digest, is_import_signed, stamp_payee TO countersign_definer;
RESET ROLE;

-- As in V0008.
REVOKE EXECUTE ON FUNCTION countersign.import_payee, countersign.allow_import, countersign.read_import_act
    FROM PUBLIC;
ALTER FUNCTION countersign.import_payee OWNER TO countersign_definer;
ALTER FUNCTION countersign.allow_import OWNER TO countersign_definer;
ALTER FUNCTION countersign.read_import_act OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.import_payee, countersign.read_import_act TO countersign_operator;
GRANT EXECUTE ON FUNCTION countersign.allow_import TO countersign_service;
