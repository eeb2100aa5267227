-- Who may do what. The service cannot write a table: it can only call functions, and those run as the
-- definer, which may insert evidence but neither change it nor choose its xid, time or hash.

ALTER SCHEMA countersign OWNER TO countersign_owner;
GRANT USAGE ON SCHEMA countersign
    TO countersign_definer, countersign_service, countersign_operator, countersign_auditor;

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;
GRANT SELECT ON ALL TABLES IN SCHEMA countersign TO countersign_definer;
GRANT INSERT (id, kind, action_id, subject_id, credential_id, leaf, body_commit) ON evidence
    TO countersign_definer;
GRANT INSERT ON evidence_body, subject_key, customer, credential, enrolment, enrolment_authorization,
    sca_token, client, client_key, client_certificate, action, challenge, decision, execution_order,
    receipt, credential_announcement, payee, counter, reservation, idempotency TO countersign_definer;
GRANT UPDATE (version, failures, locked_until, contact_hold_until) ON customer TO countersign_definer;
GRANT UPDATE (sign_count, backup_state, status, revoked_at, seq, head) ON credential
    TO countersign_definer;
GRANT UPDATE (spent_at) ON enrolment, enrolment_authorization TO countersign_definer;
GRANT UPDATE ("authorization", execution, hold_until, hold_rule, failures, seq, head,
    last_evidence_id) ON action TO countersign_definer;
GRANT UPDATE (state, failures) ON challenge TO countersign_definer;
GRANT UPDATE (available_at, attempt, first_attempt_at, lease_token, lease_until, settled_at)
    ON execution_order, credential_announcement TO countersign_definer;
GRANT UPDATE (id, name, alias, status, action_id, confirmed_at, usable_at, new_until,
    first_executed_at) ON payee TO countersign_definer;
GRANT UPDATE (used, cap) ON counter TO countersign_definer;
GRANT UPDATE (returned_at) ON reservation TO countersign_definer;
GRANT DELETE ON idempotency TO countersign_definer;

GRANT SELECT ON ALL TABLES IN SCHEMA countersign TO countersign_service;
-- Keys of callers are looked up by digest, never listed.
GRANT SELECT ON customer, subject_key, payee, policy, client TO countersign_operator;
GRANT SELECT ON evidence, evidence_body, subject_key, customer, credential, policy
    TO countersign_auditor;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA countersign TO countersign_definer;
GRANT EXECUTE ON FUNCTION uuid7_floor, active_policy_version, ensure_evidence_partitions
    TO countersign_service;
GRANT EXECUTE ON FUNCTION uuid7_floor TO countersign_auditor, countersign_operator;
RESET ROLE;

DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT p.oid::regprocedure AS name, p.proname FROM pg_proc p
              WHERE p.pronamespace = 'countersign'::regnamespace AND p.prosecdef LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.name);
        -- Partitions belong to the owner; everything else writes as the definer.
        IF f.proname <> 'ensure_evidence_partitions' THEN
            EXECUTE format('ALTER FUNCTION %s OWNER TO countersign_definer', f.name);
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_service', f.name);
        END IF;
        IF f.proname IN ('ensure_customer', 'import_payee', 'add_client', 'record_event',
                         'ensure_service_subject') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_operator', f.name);
        END IF;
        -- An auditor's reading is evidence too.
        IF f.proname = 'record_event' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO countersign_auditor', f.name);
        END IF;
    END LOOP;
END $$;
-- A client is added by the operator alone.
REVOKE EXECUTE ON FUNCTION countersign.add_client, countersign.import_payee FROM countersign_service;
