-- The slow path: two officers end a hold before its time, either way.
-- Deployment: the CHECKs read the table act once; no other old data is read or locked.
--
-- Locks: the one global order has a customer's rows first, and what people do after them: customer,
-- execution order, action, act, its challenge, keys of people by ID. Nothing that holds an act's row asks
-- for a customer's.

-- The functions below that write run as the definer, who owns them; the owner replaces them.
ALTER FUNCTION countersign.sign_act(jsonb, jsonb, jsonb) OWNER TO countersign_owner;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

ALTER TABLE act
    DROP CONSTRAINT act_kind,
    ADD CONSTRAINT act_kind CHECK (kind IN
        ('policy.publish', 'policy.tighten', 'person_key.admit', 'payee.import', 'hold.release', 'hold.cancel')),
    DROP CONSTRAINT act_role_of_kind,
    -- Who writes the rules ends no hold, and who ends holds writes no rules.
    ADD CONSTRAINT act_role_of_kind CHECK (CASE
        WHEN kind IN ('hold.release', 'hold.cancel') THEN role = 'officer'
        ELSE role = 'risk' OR kind = 'person_key.admit' END);

-- As in V0014, but that an act about a hold is done by the end of that hold in the same transaction, and
-- told by the evidence of it.
CREATE OR REPLACE FUNCTION guard_act() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF (new.id, new.kind, new.role, new.document, new.signatures_needed, new.created_by, new.created_at,
        new.expires_at)
       IS DISTINCT FROM
       (old.id, old.kind, old.role, old.document, old.signatures_needed, old.created_by, old.created_at,
        old.expires_at) THEN
        RAISE EXCEPTION 'the content of an act is immutable' USING ERRCODE = 'CS003';
    END IF;
    IF old.state <> 'open' THEN
        RAISE EXCEPTION 'an act ends once' USING ERRCODE = 'CS004';
    END IF;
    IF new.state = 'done' AND new.kind IN ('hold.release', 'hold.cancel') THEN
        IF NOT EXISTS (SELECT FROM evidence e JOIN action a ON a.last_evidence_id = e.id
                WHERE e.id = new.last_evidence_id AND e.xid = pg_current_xact_id()
                  AND (e.kind, a.execution) = (CASE new.kind WHEN 'hold.cancel' THEN 'action.cancelled'
                       ELSE 'action.released' END, CASE new.kind WHEN 'hold.cancel' THEN 'cancelled'
                       ELSE 'ready' END)
                  AND a.id = (convert_from(new.document, 'UTF8')::jsonb ->> 'action_id')::uuid) THEN
            RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
        END IF;
    ELSIF new.state <> 'open' AND NOT is_told_now(new.last_evidence_id, CASE new.state
           WHEN 'withdrawn' THEN ARRAY['act.withdrawn']
           ELSE ARRAY['policy.published', 'person.key_admitted', 'act.approved'] END) THEN
        RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    RETURN new;
END $$;

-- What has changed since an action was approved, and stands against its release: the one definition for a
-- hold that ends in its time and for one that people end early.
CREATE FUNCTION against_release(p_action uuid, OUT credential_end text, OUT payee_is_gone boolean,
    OUT limit_lowered text)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT
       -- A recovery may have kept what its keys approved.
       CASE WHEN cr.approvals_kept_at IS NULL THEN nullif(cr.status, 'active') END,
       a.kind = 'transfer' AND p.id IS NULL AND a.payee_unknown IS NOT TRUE,
       -- The customer has lowered a limit meanwhile, or changed the same one again.
       CASE WHEN a.kind = 'transfer' THEN (
           SELECT min(l.limit_name) FROM customer_limit l
             LEFT JOIN reservation r ON r.action_id = a.id AND r.returned_at IS NULL
                  AND r.dimension = 'day:' || a.currency
             LEFT JOIN counter day ON day.subject_id = a.subject_id
                  AND day.dimension = r.dimension AND day.window_start = r.window_start
            WHERE l.subject_id = a.subject_id AND l.currency = a.currency
              AND l.amount_minor < CASE l.limit_name WHEN 'single_max' THEN a.amount_minor
                                        ELSE day.used END)
       WHEN a.kind = 'limit_change' THEN (
           SELECT 'superseded' FROM customer_limit l
             JOIN decision newer ON newer.action_id = l.action_id
            WHERE l.subject_id = a.subject_id AND l.limit_name = a.limit_name
              AND l.currency = a.currency AND newer.decided_at > d.decided_at)
       END
  FROM action a
  LEFT JOIN decision d ON d.action_id = a.id
  LEFT JOIN credential cr ON cr.id = d.credential_id
  LEFT JOIN payee p ON p.subject_id = a.subject_id AND p.account = a.payee_account
       -- Removed and confirmed anew it cools off anew: the old hold ends before that does, and whoever
       -- ends the old hold early does not end the new cooling-off.
       AND p.status = 'active' AND (p.usable_at <= clock_timestamp()
           OR p.usable_at <= a.hold_until AND p.confirmed_at <= d.decided_at)
 WHERE a.id = p_action;
$$;

-- As in V0014, with acts about holds.
CREATE OR REPLACE FUNCTION sign_act(p_signature jsonb, p_key_state jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT take_act_signature(ARRAY['policy.publish', 'person_key.admit', 'payee.import', 'hold.release',
            'hold.cancel'], false, p_signature, p_key_state, (p_evidence -> 0 ->> 'id')::uuid) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY[(
        SELECT signature_kind(a.kind, s.stage) FROM act_signature s JOIN act a ON a.id = s.act_id
         WHERE s.challenge_id = (p_signature ->> 'challenge_id')::uuid)]);
    PERFORM write_evidence(p_evidence);
    RETURN 'signed';
END $$;

-- The people whose signatures of an act count, in the order of their IDs.
CREATE FUNCTION signers_of(p_act uuid) RETURNS uuid[]
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT coalesce(array_agg(s.client_id ORDER BY s.client_id), '{}')
      FROM act_signature s
      JOIN act a ON a.id = s.act_id
      JOIN person_key k ON k.id = s.person_key_id AND k.client_id = s.client_id
      JOIN client c ON c.id = s.client_id
     WHERE s.act_id = p_act AND k.status = 'active' AND c.removed_at IS NULL AND c.role = a.role;
$$;

-- 'done' or 'lost_race': the last signature of an act hold.release or hold.cancel, and the end of the hold.
-- Which action, and as what it is held, is read from the signed document. p_people are those who have
-- signed before, whom the evidence names. p_evidence is the action's record, which begins no other chain.
CREATE FUNCTION end_hold(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_act_evidence jsonb,
    p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
    content jsonb;
    the_action action;
    stands record;
    is_cancel boolean;
BEGIN
    -- What is read of the act before its lock never changes.
    SELECT * INTO the_act FROM act WHERE id = (p_signature ->> 'act_id')::uuid
        AND kind IN ('hold.release', 'hold.cancel');
    content := convert_from(the_act.document, 'UTF8')::jsonb;
    is_cancel := the_act.kind = 'hold.cancel';
    SELECT * INTO the_action FROM action WHERE id = (content ->> 'action_id')::uuid;
    PERFORM 1 FROM customer WHERE subject_id = the_action.subject_id FOR UPDATE;
    PERFORM 1 FROM execution_order WHERE action_id = the_action.id AND attempt = 0
        AND settled_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'lost_race';
    END IF;
    SELECT * INTO the_action FROM action WHERE id = the_action.id FOR UPDATE;
    PERFORM 1 FROM act WHERE id = the_act.id FOR UPDATE;
    SELECT * INTO stands FROM against_release(the_action.id);
    IF (the_action.execution = 'held' AND the_action.seq = (content ->> 'seq')::int
        AND date_trunc('milliseconds', the_action.hold_until) = (content #>> '{hold,until}')::timestamptz
        AND the_action.hold_rule = content #>> '{hold,rule}'
        AND coalesce(the_action.hold_end, 'release') = content #>> '{hold,at_end}'
        AND (is_cancel OR (stands.credential_end IS NULL AND NOT stands.payee_is_gone
                           AND stands.limit_lowered IS NULL))
        AND signers_of(the_act.id) = p_people) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    IF NOT take_act_signature(ARRAY[the_act.kind], true, p_signature, p_key_state,
            (p_act_evidence -> 0 ->> 'id')::uuid) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_act_evidence, ARRAY[
        (SELECT signature_kind(the_act.kind, stage) FROM act_signature
          WHERE challenge_id = (p_signature ->> 'challenge_id')::uuid)]);
    PERFORM demand_evidence(p_evidence,
        CASE WHEN is_cancel THEN 'action.cancelled' ELSE 'action.released' END, the_action.subject_id);
    IF jsonb_array_length(p_evidence) <> 1 OR p_evidence #>> '{0,credential_id}' IS NOT NULL THEN
        RAISE EXCEPTION 'the end of a hold is told by one record' USING ERRCODE = 'CS005';
    END IF;
    PERFORM write_evidence(p_act_evidence || p_evidence);
    IF NOT is_cancel THEN
        PERFORM release_execution(the_action.subject_id, the_action.id, p_evidence);
        UPDATE execution_order SET available_at = least(available_at, clock_timestamp())
         WHERE action_id = the_action.id;
    ELSIF NOT cancel_execution(the_action.subject_id, the_action.id, p_evidence) THEN
        RAISE EXCEPTION 'an order changed under its lock' USING ERRCODE = 'CS006';
    END IF;
    PERFORM close_act(the_act.id, 'done', p_evidence);
    RETURN 'done';
END $$;

GRANT EXECUTE ON FUNCTION against_release, signers_of TO countersign_definer;
GRANT EXECUTE ON FUNCTION against_release TO countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('sign_act', 'end_hold') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
