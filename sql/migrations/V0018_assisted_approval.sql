-- The slow path: two officers approve for a customer who has no usable key.
-- Deployment: decision and execution_order get a column without a value and CHECKs that read them once,
-- under an exclusive lock each; the CHECKs of act read it once.
--
-- Locks: customer, action, act, its challenge, keys of people by ID, as in V0016.

-- The functions below that write run as the definer, who owns them; the owner replaces them.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace
                AND p.proname IN ('approve_action', 'sign_act', 'end_hold', 'claim_orders') LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_owner', f.name);
    END LOOP;
END $$;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

ALTER TABLE act
    DROP CONSTRAINT act_kind,
    ADD CONSTRAINT act_kind CHECK (kind IN ('policy.publish', 'policy.tighten', 'person_key.admit',
        'payee.import', 'hold.release', 'hold.cancel', 'action.approve')),
    DROP CONSTRAINT act_role_of_kind,
    -- Who writes the rules ends no hold and approves nothing, and who does that writes no rules.
    ADD CONSTRAINT act_role_of_kind CHECK (CASE
        WHEN kind IN ('hold.release', 'hold.cancel', 'action.approve') THEN role = 'officer'
        ELSE role = 'risk' OR kind = 'person_key.admit' END);

-- An approval is the customer's, with a proof of the customer's key, or that of two officers, with their
-- act; then it is held for a day at least, whatever decided it. An order is about one of the two.
ALTER TABLE decision
    ADD COLUMN act_id uuid CONSTRAINT decision_act_unique UNIQUE REFERENCES act (id),
    DROP CONSTRAINT decision_approved_is_signed,
    ADD CONSTRAINT decision_approved_is_signed CHECK (outcome <> 'approved'
        OR num_nulls(challenge_id, credential_id, assertion_digest) = CASE WHEN act_id IS NULL THEN 0 ELSE 3 END),
    ADD CONSTRAINT decision_assisted CHECK (act_id IS NULL OR (outcome = 'approved' AND execution = 'held'
        AND hold_until >= decided_at + interval '24 hours') IS TRUE),
    ADD CONSTRAINT decision_of_act UNIQUE (action_id, act_id);
ALTER TABLE execution_order
    -- The act whose document is the message; its signatures are those of the act.
    ADD COLUMN act_id uuid,
    ALTER COLUMN signature DROP NOT NULL,
    ADD CONSTRAINT execution_order_signed CHECK ((signature IS NULL) = (act_id IS NOT NULL)
        AND (act_id IS NULL OR num_nonnulls(client_data_json, authenticator_data) = 0)),
    ADD CONSTRAINT execution_order_act FOREIGN KEY (action_id, act_id)
        REFERENCES decision (action_id, act_id);

-- The members of an action's content, as the customer's message says them.
CREATE FUNCTION action_members(a action) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN CASE a.kind
        WHEN 'transfer' THEN jsonb_build_object('amount', a.amount, 'currency', a.currency,
            'debtor_account', a.debtor_account, 'payee_name', a.payee_name,
            'payee_account', a.payee_account, 'reference', a.reference,
            'end_to_end_id', a.end_to_end_id)
        WHEN 'new_payee' THEN jsonb_build_object('payee_name', a.payee_name,
            'payee_account', a.payee_account, 'payee_alias', a.payee_alias)
        WHEN 'limit_change' THEN jsonb_build_object('limit_name', a.limit_name,
            'amount', a.amount, 'currency', a.currency)
        ELSE jsonb_build_object('channel', a.channel, 'old_value_digest', a.old_value_digest,
            'new_value', a.new_value)
        END;
END $$;

-- As in V0013, with action_members.
CREATE OR REPLACE FUNCTION message_matches(a action, message bytea, decision text, customer text,
    challenge uuid) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (convert_from(message, 'UTF8')::jsonb - 'audience' - 'nonce' - 'expires_at')
        = jsonb_build_object('action_id', a.id, 'challenge_id', challenge, 'customer_id', customer,
              'decision', decision, 'kind', a.kind, 'version', 'countersign/1') || action_members(a);
END $$;

-- Whether a document of officers is about this action of this customer, member by member.
CREATE FUNCTION document_matches(a action, content jsonb, customer text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (content - 'assisted' - 'identity_check' - 'reason')
        = jsonb_build_object('action_id', a.id, 'customer_id', customer, 'external_id', a.external_id,
              'kind', a.kind, 'members', action_members(a));
END $$;

-- For how many seconds officers have signed that what they approve is held; NULL for no act.
CREATE FUNCTION assisted_hold_s(a act) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT (convert_from(a.document, 'UTF8')::jsonb #>> '{assisted,hold_s}')::int
$$;

-- Whether what an approval counts for still fits, on the day for which it was decided. The caller holds the
-- customer's row, without which nothing is counted.
CREATE FUNCTION approval_fits(p_subject uuid, p_policy_version int, p_bank_day date, p_dimensions text[],
    p_windows date[], p_amounts bigint[], p_caps bigint[], p_ceilings jsonb) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    RETURN (p_bank_day = (SELECT (clock_timestamp() AT TIME ZONE time_zone)::date
                            FROM policy WHERE version = p_policy_version)
        AND NOT EXISTS (SELECT FROM unnest(p_dimensions, p_windows, p_amounts, p_caps)
                               AS r (dimension, window_start, amount, cap)
                          LEFT JOIN counter c ON c.subject_id = p_subject
                               AND c.dimension = r.dimension AND c.window_start = r.window_start
                         WHERE r.amount > r.cap - coalesce(c.used, 0))
        AND NOT ceiling_is_passed(p_subject, p_ceilings)) IS TRUE;
END $$;

-- Writes what every approval comes with, whoever gives it: the action's state, what it counts for, its
-- payee and limit, and what was looked at. The caller holds the rows and has written the evidence.
CREATE FUNCTION write_approval(p_subject uuid, p_action uuid, p_decided_at timestamptz, p_policy_version int,
    p_hold_until timestamptz, p_hold_rule text, p_hold_end text, p_dimensions text[], p_windows date[],
    p_amounts bigint[], p_caps bigint[], p_payee jsonb, p_payee_unknown boolean, p_limit_before bigint,
    p_inputs bytea, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    entry record := action_head_of(p_evidence, p_action);
BEGIN
    UPDATE action SET "authorization" = 'approved',
           execution = CASE WHEN p_hold_until IS NULL THEN 'ready' ELSE 'held' END,
           hold_until = p_hold_until, hold_rule = p_hold_rule, hold_end = p_hold_end,
           payee_unknown = p_payee_unknown, limit_before = p_limit_before, seq = seq + entry.added,
           head = entry.head, last_evidence_id = entry.last_id
     WHERE id = p_action;
    INSERT INTO counter AS c (subject_id, dimension, window_start, used, cap)
    SELECT p_subject, r.dimension, r.window_start, r.amount, r.cap
      FROM unnest(p_dimensions, p_windows, p_amounts, p_caps)
           AS r (dimension, window_start, amount, cap)
    ON CONFLICT (subject_id, dimension, window_start)
        DO UPDATE SET used = c.used + excluded.used, cap = excluded.cap;
    INSERT INTO reservation (action_id, subject_id, reserved_at, dimension, window_start, amount)
    SELECT p_action, p_subject, p_decided_at, r.dimension, r.window_start, r.amount
      FROM unnest(p_dimensions, p_windows, p_amounts) AS r (dimension, window_start, amount);
    IF p_payee IS NOT NULL THEN
        PERFORM confirm_payee(p_subject, p_action, p_decided_at, p_payee);
    END IF;
    IF p_limit_before IS NOT NULL AND p_hold_until IS NULL THEN
        PERFORM set_limit(p_action, p_limit_before);
    END IF;
    PERFORM note_policy_decision(p_action, p_decided_at, p_policy_version, p_inputs, 'approved',
        p_evidence);
END $$;

-- As in V0013, in two parts that an approval by officers shares.
CREATE OR REPLACE FUNCTION approve_action(p_subject uuid, p_version bigint, p_policy_version int,
    p_action uuid, p_seq int, p_challenge uuid, p_credential uuid, p_credential_seq int,
    p_decided_at timestamptz, p_message bytea, p_signature bytea, p_client_data_json bytea,
    p_authenticator_data bytea, p_assertion_digest bytea, p_sign_count bigint,
    p_backup_state boolean, p_bank_day date, p_hold_until timestamptz, p_hold_rule text,
    p_hold_end text, p_dimensions text[], p_windows date[], p_amounts bigint[], p_caps bigint[], p_ceilings jsonb,
    p_payee jsonb, p_payee_unknown boolean, p_contact_hold_until timestamptz,
    p_limit_before bigint, p_inputs bytea, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    checked text := lock_for_decision(p_subject, p_version, p_policy_version, p_action, p_seq,
        p_challenge, p_credential, p_credential_seq, p_decided_at, 'approve', p_message);
    new_execution text := CASE WHEN p_hold_until IS NULL THEN 'ready' ELSE 'held' END;
BEGIN
    IF checked <> 'ok' THEN
        RETURN checked;
    END IF;
    IF NOT approval_fits(p_subject, p_policy_version, p_bank_day, p_dimensions, p_windows, p_amounts, p_caps,
            p_ceilings) THEN
        RETURN 'lost_race';
    END IF;

    PERFORM write_evidence(p_evidence);
    PERFORM write_approval(p_subject, p_action, p_decided_at, p_policy_version, p_hold_until, p_hold_rule,
        p_hold_end, p_dimensions, p_windows, p_amounts, p_caps, p_payee, p_payee_unknown, p_limit_before,
        p_inputs, p_evidence);
    UPDATE challenge SET state = 'consumed' WHERE id = p_challenge;
    PERFORM note_proof(p_credential, p_sign_count, p_backup_state, p_evidence);
    INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest,
           assertion_digest, execution, hold_until, hold_rule, hold_end,
           evidence_id, leaf_hash, decided_at)
    SELECT p_action, 'approved', p_challenge, p_credential, sha256(p_message), p_assertion_digest,
           new_execution, p_hold_until, p_hold_rule, p_hold_end, e.id, e.leaf_hash, p_decided_at
      FROM evidence e WHERE e.id = (p_evidence -> 0 ->> 'id')::uuid;
    INSERT INTO execution_order (action_id, message, message_digest, signature, client_data_json,
           authenticator_data, available_at)
    VALUES (p_action, p_message, sha256(p_message), p_signature, p_client_data_json,
            p_authenticator_data, coalesce(p_hold_until, p_decided_at));
    UPDATE customer SET version = version + 1, failures = 0,
           contact_hold_until = greatest(contact_hold_until, p_contact_hold_until)
     WHERE subject_id = p_subject;
    RETURN 'approved';
END $$;

-- As in V0016, with acts that approve an action: done in the transaction of the decision.
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
    ELSIF new.state = 'done' AND new.kind = 'action.approve' THEN
        IF NOT EXISTS (SELECT FROM evidence e
                JOIN action a ON a.last_evidence_id = e.id AND a."authorization" = 'approved'
                JOIN decision d ON d.action_id = a.id AND d.act_id = new.id
                WHERE e.id = new.last_evidence_id AND e.xid = pg_current_xact_id()
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

-- As in V0016, with acts that approve an action.
CREATE OR REPLACE FUNCTION sign_act(p_signature jsonb, p_key_state jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT take_act_signature(ARRAY['policy.publish', 'person_key.admit', 'payee.import', 'hold.release',
            'hold.cancel', 'action.approve'], false, p_signature, p_key_state, (p_evidence -> 0 ->> 'id')::uuid) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY[(
        SELECT signature_kind(a.kind, s.stage) FROM act_signature s JOIN act a ON a.id = s.act_id
         WHERE s.challenge_id = (p_signature ->> 'challenge_id')::uuid)]);
    PERFORM write_evidence(p_evidence);
    RETURN 'signed';
END $$;

-- As in V0016, with what officers have approved: it needs two of them to the end, and its hold is not
-- shortened; with limits that were lowered in any way, and with the payee's own confirmation: while that is
-- held, nobody sends anything there, and when it has come to a cancellation, never.
DROP FUNCTION against_release(uuid);
CREATE FUNCTION against_release(p_action uuid, OUT credential_end text, OUT payee_is_gone boolean,
    OUT limit_lowered text, OUT assisted_hold_lasts boolean)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    SELECT
       CASE WHEN d.act_id IS NOT NULL THEN
           -- Two officers stand behind it, or nobody does.
           CASE WHEN cardinality(signers_of(d.act_id)) < 2 THEN 'ended' END
       -- A recovery may have kept what its keys approved.
       WHEN cr.approvals_kept_at IS NULL THEN nullif(cr.status, 'active') END,
       a.kind = 'transfer' AND p.id IS NULL AND a.payee_unknown IS NOT TRUE,
       -- A limit is lower than when this was approved, or the same one was changed again.
       CASE WHEN a.kind = 'transfer' THEN lowered_limit(a, d.decided_at)
       WHEN a.kind = 'limit_change' THEN (
           SELECT 'superseded' FROM own_limits(a.subject_id, a.currency) l
             JOIN decision newer ON newer.action_id = l.action_id
            WHERE l.limit_name = a.limit_name AND newer.decided_at > d.decided_at)
       END,
       -- Whoever approves for a customer does not shorten the time in which the customer can object.
       coalesce(d.decided_at + make_interval(secs => assisted_hold_s(act)) > clock_timestamp(), false)
  FROM action a
  LEFT JOIN decision d ON d.action_id = a.id
  LEFT JOIN act ON act.id = d.act_id
  LEFT JOIN credential cr ON cr.id = d.credential_id
  LEFT JOIN payee p ON p.subject_id = a.subject_id AND p.account = a.payee_account
       -- Removed and confirmed anew it cools off anew: the old hold ends before that does, and whoever
       -- ends the old hold early does not end the new cooling-off.
       AND p.status = 'active' AND (p.usable_at <= clock_timestamp()
           OR p.usable_at <= a.hold_until AND p.confirmed_at <= d.decided_at)
       AND NOT EXISTS (SELECT FROM action h WHERE h.id = p.action_id AND h.execution = 'held'
                          AND (h.hold_end = 'cancel' OR h.hold_until > clock_timestamp()))
 WHERE a.id = p_action;
$$;

-- As in V0016, with the hold of what officers have approved, and nothing is released before its payee.
CREATE OR REPLACE FUNCTION end_hold(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_act_evidence jsonb,
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
                           AND stands.limit_lowered IS NULL AND NOT stands.assisted_hold_lasts))
        AND (is_cancel OR NOT payee_is_awaited(the_action.id))
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

-- 'done' or 'lost_race': the last signature of an act action.approve, and the action is approved and held.
-- Which action it is, is read from the signed document. The parameters are those of approve_action and of
-- end_hold; p_evidence begins with the approval, and all of it is on the action's chain alone.
CREATE FUNCTION approve_assisted(p_signature jsonb, p_key_state jsonb, p_people uuid[], p_version bigint,
    p_policy_version int, p_seq int, p_decided_at timestamptz, p_bank_day date, p_hold_until timestamptz,
    p_hold_rule text, p_hold_end text, p_dimensions text[], p_windows date[], p_amounts bigint[],
    p_caps bigint[], p_ceilings jsonb, p_payee jsonb, p_payee_unknown boolean,
    p_contact_hold_until timestamptz, p_inputs bytea, p_act_evidence jsonb, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    the_act act;
    content jsonb;
    the_action action;
    the_customer customer;
    at timestamptz;
BEGIN
    -- What is read of the act before its lock never changes.
    SELECT * INTO the_act FROM act WHERE id = (p_signature ->> 'act_id')::uuid AND kind = 'action.approve';
    content := convert_from(the_act.document, 'UTF8')::jsonb;
    SELECT * INTO the_action FROM action WHERE id = (content ->> 'action_id')::uuid;
    SELECT * INTO the_customer FROM customer WHERE subject_id = the_action.subject_id FOR UPDATE;
    SELECT * INTO the_action FROM action WHERE id = the_action.id FOR UPDATE;
    PERFORM 1 FROM act WHERE id = the_act.id FOR UPDATE;
    at := clock_timestamp();
    -- IS NOT TRUE: a row that is missing makes a NULL here, and must count as a lost race.
    IF (the_customer.version = p_version AND p_decided_at BETWEEN at - decision_age_max() AND at
        AND active_policy_version() = p_policy_version
        AND the_action."authorization" = 'pending' AND the_action.expires_at > at
        AND the_action.seq = p_seq
        AND document_matches(the_action, content, the_customer.customer_id)
        -- Keys of a customer come and go under the customer's row, which is held here.
        AND NOT EXISTS (SELECT FROM credential c WHERE c.subject_id = the_customer.subject_id
                           AND c.status = 'active')
        AND p_hold_until >= p_decided_at + make_interval(secs => assisted_hold_s(the_act))
        AND signers_of(the_act.id) = p_people
        AND approval_fits(the_customer.subject_id, p_policy_version, p_bank_day, p_dimensions, p_windows,
                p_amounts, p_caps, p_ceilings)) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    IF NOT take_act_signature(ARRAY['action.approve'], true, p_signature, p_key_state,
            (p_act_evidence -> 0 ->> 'id')::uuid) THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_act_evidence, ARRAY[
        (SELECT signature_kind(the_act.kind, stage) FROM act_signature
          WHERE challenge_id = (p_signature ->> 'challenge_id')::uuid)]);
    PERFORM demand_evidence(p_evidence, 'action.approved', the_customer.subject_id);
    IF EXISTS (SELECT FROM jsonb_array_elements(p_evidence) AS x (value)
                WHERE x.value ->> 'credential_id' IS NOT NULL
                   OR (x.value ->> 'action_id')::uuid IS DISTINCT FROM the_action.id) THEN
        RAISE EXCEPTION 'an approval by officers is told of its action alone' USING ERRCODE = 'CS005';
    END IF;
    PERFORM write_evidence(p_act_evidence || p_evidence);
    PERFORM write_approval(the_customer.subject_id, the_action.id, p_decided_at, p_policy_version,
        p_hold_until, p_hold_rule, p_hold_end, p_dimensions, p_windows, p_amounts, p_caps, p_payee,
        p_payee_unknown, NULL, p_inputs, p_evidence);
    -- Nobody can answer them any more.
    UPDATE challenge SET state = 'void' WHERE action_id = the_action.id AND state = 'live';
    INSERT INTO decision (action_id, outcome, act_id, message_digest, execution, hold_until, hold_rule,
           hold_end, evidence_id, leaf_hash, decided_at)
    SELECT the_action.id, 'approved', the_act.id, the_act.digest, 'held', p_hold_until, p_hold_rule,
           p_hold_end, e.id, e.leaf_hash, p_decided_at
      FROM evidence e WHERE e.id = (p_evidence -> 0 ->> 'id')::uuid;
    INSERT INTO execution_order (action_id, act_id, message, message_digest, available_at)
    VALUES (the_action.id, the_act.id, the_act.document, the_act.digest, p_hold_until);
    UPDATE customer SET version = version + 1,
           contact_hold_until = greatest(contact_hold_until, p_contact_hold_until)
     WHERE subject_id = the_customer.subject_id;
    PERFORM close_act(the_act.id, 'done', p_evidence);
    RETURN 'done';
END $$;

-- As in V0015, with orders of officers: no key of the customer, and the signatures of their act instead.
DROP FUNCTION claim_orders(int, interval, boolean);
CREATE FUNCTION claim_orders(p_limit int, p_lease interval, p_told boolean) RETURNS TABLE (
    action_id uuid, lease_token uuid, attempt int, first_attempt_at timestamptz, execution text,
    customer_id text, decided_at timestamptz, evidence_id uuid, leaf_hash bytea, message bytea,
    signature bytea, client_data_json bytea, authenticator_data bytea, credential_id uuid, kind text,
    public_key bytea, signature_format text, act_id uuid, act_signatures text)
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
           AND (p_told OR NOT EXISTS (
                   SELECT FROM credential_announcement n
                    WHERE n.credential_id = d.credential_id AND n.settled_at IS NULL
                      AND (n.attempt = 0 OR n.lease_until > clock_timestamp())))
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
           o.authenticator_data, cr.id, cr.kind, cr.public_key, cr.signature_format, d.act_id,
           -- The signatures that counted when it was approved: the same ones however often it is sent.
           (SELECT json_agg(json_build_object('person', cl.name, 'key_id', s.person_key_id,
                       'message', encode(s.message, 'hex'), 'signature', encode(s.signature, 'hex'),
                       'client_data_json', encode(s.client_data_json, 'hex'),
                       'authenticator_data', encode(s.authenticator_data, 'hex'))
                       ORDER BY s.signed_at, s.client_id)::text
              FROM act_signature s
              JOIN person_key pk ON pk.id = s.person_key_id
              JOIN client cl ON cl.id = s.client_id
             WHERE s.act_id = d.act_id AND (pk.revoked_at IS NULL OR pk.revoked_at > d.decided_at)
               AND (cl.removed_at IS NULL OR cl.removed_at > d.decided_at))
      FROM claimed o
      JOIN action a ON a.id = o.action_id
      JOIN customer c ON c.subject_id = a.subject_id
      JOIN decision d ON d.action_id = o.action_id
      LEFT JOIN credential cr ON cr.id = d.credential_id;
$$;

GRANT EXECUTE ON FUNCTION action_members, document_matches, assisted_hold_s, approval_fits, write_approval,
    against_release TO countersign_definer;
GRANT EXECUTE ON FUNCTION against_release, signers_of, assisted_hold_s TO countersign_service;
RESET ROLE;

-- As in V0008.
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef
                AND p.proname IN ('approve_action', 'sign_act', 'end_hold', 'claim_orders',
                                  'approve_assisted') LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
    END LOOP;
END $$;
