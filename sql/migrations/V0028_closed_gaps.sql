-- What a hostile review found: the operator writes the evidence that belongs to what he does and no other; the
-- end of a person's key is told after what that key was refused; whoever would admit a key of his own is refused
-- on record; a transfer of before a payee was removed proves nothing of it once it is confirmed again.
-- Deployment: functions only.
--
-- Locks: as before. A refusal writes rows of keys that it has locked already.

-- They write as the definer, who owns them; the owner replaces them.
ALTER FUNCTION countersign.import_payee OWNER TO countersign_owner;
ALTER FUNCTION countersign.add_client OWNER TO countersign_owner;
ALTER FUNCTION countersign.revoke_person_key OWNER TO countersign_owner;
ALTER FUNCTION countersign.refuse_act OWNER TO countersign_owner;
ALTER FUNCTION countersign.settle_order OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Whether an entry is in no chain, and its leaf says what its columns say: what record_event asks for.
CREATE FUNCTION is_plain_entry(entry jsonb) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
DECLARE
    leaf jsonb := convert_from(decode(entry ->> 'leaf', 'hex'), 'UTF8')::jsonb;
BEGIN
    RETURN (entry ->> 'action_id' IS NULL AND entry ->> 'credential_id' IS NULL
        AND NOT leaf ?| ARRAY['action', 'credential']
        AND leaf ->> 'id' = entry ->> 'id' AND leaf ->> 'kind' = entry ->> 'kind'
        AND leaf ->> 'subject' = entry ->> 'subject_id'
        AND leaf ->> 'body' = entry ->> 'body_commit') IS TRUE;
END $$;

-- Demands one entry of this kind and subject, in no chain, and nothing beside it.
CREATE FUNCTION demand_only_evidence(entries jsonb, p_kind text, p_subject uuid) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    IF (jsonb_array_length(entries) = 1 AND entries -> 0 ->> 'kind' = p_kind
        AND (entries -> 0 ->> 'subject_id')::uuid = p_subject AND is_plain_entry(entries -> 0))
        IS NOT TRUE THEN
        RAISE EXCEPTION 'a change needs its evidence, and no other' USING ERRCODE = 'CS005';
    END IF;
END $$;

-- As in V0014, and the leaves say it too.
CREATE OR REPLACE FUNCTION demand_service_evidence(entries jsonb, p_kinds text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    IF ((SELECT array_agg(x.value ->> 'kind' ORDER BY x.n)
           FROM jsonb_array_elements(entries) WITH ORDINALITY AS x (value, n)) = p_kinds
        AND NOT EXISTS (SELECT FROM jsonb_array_elements(entries) AS x (value)
            WHERE x.value ->> 'subject_id' <> '00000000-0000-0000-0000-000000000000'
               OR NOT is_plain_entry(x.value)))
        IS NOT TRUE THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
END $$;

-- As in V0020, with one entry of evidence.
CREATE OR REPLACE FUNCTION import_payee(p_subject uuid, p_payee uuid, p_account text, p_name text,
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
    PERFORM demand_only_evidence(p_evidence, 'payee.imported', p_subject);
    PERFORM write_evidence(p_evidence);
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'imported';
END $$;

-- As in V0005, with one entry of evidence.
CREATE OR REPLACE FUNCTION add_client(p_client uuid, p_name text, p_role text, p_digest bytea,
    p_subject_alternative_name text, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM client_certificate
                WHERE subject_alternative_name = p_subject_alternative_name) THEN
        RETURN 'exists';
    END IF;
    INSERT INTO client (id, name, role) VALUES (p_client, p_name, p_role) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN 'exists';
    END IF;
    IF p_digest IS NOT NULL THEN
        INSERT INTO client_key (digest, client_id) VALUES (p_digest, p_client);
    END IF;
    IF p_subject_alternative_name IS NOT NULL THEN
        INSERT INTO client_certificate (subject_alternative_name, client_id)
        VALUES (p_subject_alternative_name, p_client);
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['client.added']);
    PERFORM write_evidence(p_evidence);
    RETURN 'added';
END $$;

-- As in V0014, and after what the key was refused.
CREATE OR REPLACE FUNCTION revoke_person_key(p_key uuid, p_owner uuid, p_revoked_at timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF p_owner IS NULL AND NOT pg_has_role(session_user, 'countersign_operator', 'MEMBER') THEN
        RAISE EXCEPTION 'only the operator revokes keys of others' USING ERRCODE = 'CS007';
    END IF;
    -- Of a role that the person has no more, too: the end of a key always goes through.
    PERFORM lock_people((SELECT c.role FROM person_key k JOIN client c ON c.id = k.client_id
                          WHERE k.id = p_key));
    PERFORM 1 FROM person_key WHERE id = p_key AND status <> 'revoked'
        AND (p_owner IS NULL OR client_id = p_owner) FOR UPDATE;
    -- Evidence is read in the order of its IDs: the end of a key is told after all that it has brought about,
    -- and after all that it was refused.
    IF NOT FOUND
        OR (SELECT last_evidence_id FROM person_key WHERE id = p_key) >= (p_evidence -> 0 ->> 'id')::uuid
        OR EXISTS (SELECT FROM act_signature s JOIN act a ON a.id = s.act_id WHERE s.person_key_id = p_key
            AND greatest(s.evidence_id, a.last_evidence_id) >= (p_evidence -> 0 ->> 'id')::uuid)
        OR (p_revoked_at BETWEEN clock_timestamp() - decision_age_max()
            AND clock_timestamp()) IS NOT TRUE THEN RETURN 'lost_race'; END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['person.key_revoked']);
    PERFORM write_evidence(p_evidence);
    UPDATE person_key SET status = 'revoked', revoked_at = p_revoked_at,
           last_evidence_id = (p_evidence -> 0 ->> 'id')::uuid WHERE id = p_key;
    RETURN 'revoked';
END $$;

-- As in V0026, but not what an act does whose last signature is refused for just that: whether the key that it
-- would admit waits, and is not the signer's own, take_act_signature asks.
CREATE OR REPLACE FUNCTION act_signature_stands(p_kinds text[], p_last boolean, p_signature jsonb, p_key_state jsonb)
RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    s act_signature := jsonb_populate_record(NULL::act_signature, p_signature);
    the_act act;
    the_challenge act_challenge;
    the_key person_key;
    subject_key_id uuid;
    at timestamptz;
BEGIN
    SELECT * INTO the_act FROM act WHERE id = s.act_id FOR UPDATE;
    SELECT * INTO the_challenge FROM act_challenge WHERE id = s.challenge_id FOR UPDATE;
    IF the_act.kind = 'person_key.admit' THEN
        subject_key_id := (convert_from(the_act.document, 'UTF8')::jsonb ->> 'key_id')::uuid;
    END IF;
    -- The keys of all who have signed: none of them is revoked from here to the commit.
    PERFORM 1 FROM person_key WHERE id = s.person_key_id OR id = subject_key_id
        OR id IN (SELECT person_key_id FROM act_signature WHERE act_id = s.act_id) ORDER BY id FOR UPDATE;
    SELECT * INTO the_key FROM person_key WHERE id = s.person_key_id;
    at := clock_timestamp();
    -- IS TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    RETURN (the_act.kind = ANY (p_kinds) AND the_act.state = 'open' AND the_act.expires_at > at
        AND s.signed_at BETWEEN at - decision_age_max() AND at
        AND the_challenge.act_id = s.act_id AND the_challenge.client_id = s.client_id
        AND the_challenge.state = 'live' AND the_challenge.expires_at > at
        AND the_challenge.message = s.message AND act_message_matches(the_act, the_challenge)
        AND role_of_person(s.client_id) = the_act.role
        AND the_key.client_id = s.client_id AND the_key.status = 'active' AND the_key.failures < 100
        AND the_key.sign_count = (p_key_state ->> 'sign_count_before')::bigint
        -- Nobody approves what was not proposed.
        AND (the_challenge.stage = 'propose'
             OR EXISTS (SELECT FROM act_signature WHERE act_id = s.act_id AND stage = 'propose'))
        AND NOT EXISTS (SELECT FROM act_signature WHERE act_id = s.act_id AND client_id = s.client_id)
        AND (people_behind(s.act_id) + 1 >= the_act.signatures_needed) = p_last) IS TRUE;
END $$;

-- Whether this person may help to admit the key of an act: it waits, and is somebody else's. True of every act
-- of another kind. The caller holds the rows.
CREATE FUNCTION may_help_to_admit(p_act uuid, p_client uuid) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
BEGIN
    SELECT * INTO the_act FROM act WHERE id = p_act;
    RETURN the_act.kind <> 'person_key.admit' OR EXISTS (SELECT FROM person_key k
        WHERE k.id = (convert_from(the_act.document, 'UTF8')::jsonb ->> 'key_id')::uuid
          AND k.status = 'pending' AND k.client_id <> p_client);
END $$;

-- As in V0026, and nobody admits a key of his own.
CREATE OR REPLACE FUNCTION take_act_signature(p_kinds text[], p_last boolean, p_signature jsonb,
    p_key_state jsonb, p_evidence uuid) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    s act_signature := jsonb_populate_record(NULL::act_signature, p_signature);
BEGIN
    IF NOT act_signature_stands(p_kinds, p_last, p_signature, p_key_state)
        OR may_help_to_admit(s.act_id, s.client_id) IS NOT TRUE THEN
        RETURN false;
    END IF;
    s.stage := (SELECT stage FROM act_challenge WHERE id = s.challenge_id);
    s.evidence_id := p_evidence;
    INSERT INTO act_signature SELECT s.*;
    PERFORM note_act_answer(p_signature, p_key_state);
    RETURN true;
END $$;

-- As in V0026, and the keys behind it end after it.
CREATE OR REPLACE FUNCTION refuse_last_signature(p_kinds text[], p_signature jsonb, p_key_state jsonb, p_people uuid[],
    p_evidence jsonb, p_more jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    written jsonb := p_evidence || p_more;
BEGIN
    IF NOT act_signature_stands(p_kinds, true, p_signature, p_key_state)
        OR signers_of((p_signature ->> 'act_id')::uuid) IS DISTINCT FROM p_people THEN
        RETURN false;
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['act.refused']);
    PERFORM write_evidence(written);
    -- Never back: what is told of another act may have been told later, and be there already.
    UPDATE person_key SET last_evidence_id = greatest(last_evidence_id, (written -> -1 ->> 'id')::uuid)
     WHERE id = (p_signature ->> 'person_key_id')::uuid OR id IN (
        SELECT person_key_id FROM act_signature WHERE act_id = (p_signature ->> 'act_id')::uuid);
    PERFORM note_act_answer(p_signature, p_key_state);
    RETURN true;
END $$;

-- 'refused' or 'lost_race': the last signature of an act about an action, which something else than a policy
-- or a customer's key stands against, or of one that would admit the signer's own key. That this was so when it
-- was read is not compared again: a refusal that comes a moment late lets nothing happen.
CREATE OR REPLACE FUNCTION refuse_act(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN CASE WHEN refuse_last_signature(
            ARRAY['hold.release', 'hold.cancel', 'action.approve', 'person_key.admit'],
            p_signature, p_key_state, p_people, p_evidence, '[]') THEN 'refused' ELSE 'lost_race' END;
END $$;

-- As in V0013, of the payee that the transfer was approved for.
CREATE OR REPLACE FUNCTION settle_order(p_subject uuid, p_action uuid, p_seq int, p_token uuid,
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
        PERFORM withdraw_limit(p_action);
    ELSIF the_action.kind = 'transfer' THEN
        UPDATE payee SET first_executed_at = coalesce(first_executed_at, clock_timestamp())
         WHERE subject_id = p_subject AND account = the_action.payee_account
           -- What was approved before it was removed proves nothing of it once it is confirmed again.
           AND confirmed_at <= (SELECT decided_at FROM decision WHERE action_id = p_action);
    END IF;
    UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    RETURN 'settled';
END $$;

GRANT EXECUTE ON FUNCTION is_plain_entry, demand_only_evidence, may_help_to_admit TO countersign_definer;
RESET ROLE;

ALTER FUNCTION countersign.import_payee OWNER TO countersign_definer;
ALTER FUNCTION countersign.add_client OWNER TO countersign_definer;
ALTER FUNCTION countersign.revoke_person_key OWNER TO countersign_definer;
ALTER FUNCTION countersign.refuse_act OWNER TO countersign_definer;
ALTER FUNCTION countersign.settle_order OWNER TO countersign_definer;
