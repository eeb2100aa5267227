-- The keys that sign promises of records are evidence, as those of the log are.
-- Deployment: one empty table and two functions.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

CREATE TABLE promise_key (
    verifier_key text PRIMARY KEY,
    evidence_id  uuid NOT NULL CONSTRAINT promise_key_evidence UNIQUE
);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON promise_key FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON promise_key FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE promise_key ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- Tells of a key once, as announce_log_key does.
CREATE FUNCTION announce_promise_key(p_key text, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_service_evidence(p_evidence, ARRAY['promise.key']);
    IF convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome'
        IS DISTINCT FROM p_key THEN
        RAISE EXCEPTION 'a change needs its evidence' USING ERRCODE = 'CS005';
    END IF;
    INSERT INTO promise_key (verifier_key, evidence_id)
    VALUES (p_key, (p_evidence -> 0 ->> 'id')::uuid) ON CONFLICT (verifier_key) DO NOTHING;
    IF FOUND THEN
        PERFORM write_evidence(p_evidence);
    END IF;
END $$;

-- As in V0036, and keys of promises stay, since a promise is shown years later.
CREATE OR REPLACE FUNCTION evidence_to_keep(p_month date) RETURNS TABLE (id uuid, leaf_hash bytea)
LANGUAGE sql STABLE SET search_path = countersign, pg_temp AS $$
    WITH month AS MATERIALIZED (
        SELECT e.id, e.kind, e.action_id, e.subject_id, e.leaf_hash FROM evidence e
         WHERE e.id >= month_floor(p_month) AND e.id < month_floor((p_month + interval '1 month')::date)),
    unfinished AS (
        SELECT m.action_id FROM month m JOIN action a ON a.id = m.action_id
         GROUP BY m.action_id HAVING NOT bool_or(m.leaf_hash = a.head))
    SELECT m.id, m.leaf_hash FROM month m
     WHERE m.kind = ANY ('{credential.enrolled,credential.revoked,credential.suspended,policy.published,
            policy.proposed,policy.approved,act.proposed,act.approved,act.refused,act.withdrawn,
            person.key_registered,person.key_admitted,person.key_revoked,person.founding_reopened,
            installation.stated,payee.added,payee.imported,payee.removed,recovery,subject.erased,
            evidence.detached,log.key,promise.key}'::text[])
        OR m.action_id IN (SELECT u.action_id FROM unfinished u)
        OR m.action_id IN (SELECT t.action_id FROM act t WHERE t.action_id IS NOT NULL)
        OR m.subject_id = '00000000-0000-0000-0000-000000000000'
           AND EXISTS (SELECT FROM evidence_body b WHERE b.evidence_id = m.id AND b.subject_id <> m.subject_id)
        -- A month that was attached again is detached as it was.
        OR EXISTS (SELECT FROM evidence_kept k WHERE k.id = m.id)
$$;

RESET ROLE;

ALTER FUNCTION countersign.announce_promise_key OWNER TO countersign_definer;
GRANT SELECT ON countersign.promise_key TO countersign_definer, countersign_service, countersign_auditor;
GRANT INSERT ON countersign.promise_key TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.announce_promise_key TO countersign_service;
