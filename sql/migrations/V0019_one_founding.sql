-- The founding of a role, in which keys of people are admitted by nobody, happens once. To open it again is
-- an act of the operator.
-- Deployment: fills one column of person_key, a table of a few rows; no other old data is read or locked.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- When the key began to count; NULL for one that never did.
ALTER TABLE person_key ADD COLUMN admitted_at timestamptz;
-- Of a key that was revoked and names no act nobody knows whether it ever counted. It is taken for one that
-- did: that opens nothing.
UPDATE person_key k SET admitted_at = coalesce(
        (SELECT a.closed_at FROM act a WHERE a.id = k.act_id), k.registered_at)
 WHERE k.status <> 'pending';
ALTER TABLE person_key ADD CONSTRAINT person_key_admitted_time CHECK (
    CASE status WHEN 'pending' THEN admitted_at IS NULL
                WHEN 'active' THEN admitted_at IS NOT NULL ELSE true END);

-- Writes down when a key begins to count, whoever writes the row and whatever he says.
CREATE FUNCTION stamp_person_key() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        new.admitted_at := CASE new.status WHEN 'active' THEN clock_timestamp() END;
    ELSE
        new.admitted_at := coalesce(old.admitted_at,
            CASE new.status WHEN 'active' THEN clock_timestamp() END);
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON person_key
    FOR EACH ROW EXECUTE FUNCTION stamp_person_key();
ALTER TABLE person_key ENABLE ALWAYS TRIGGER stamp;

-- The operator's acts that open the founding of a role again.
CREATE TABLE founding_reopening (
    -- The evidence of it.
    evidence_id uuid PRIMARY KEY,
    role        text NOT NULL CONSTRAINT founding_reopening_role CHECK (role IN ('risk', 'officer')),
    -- Who had an active key then. They are founders already.
    people      uuid[] NOT NULL,
    reopened_at timestamptz NOT NULL, closes_at timestamptz NOT NULL,
    CONSTRAINT founding_reopening_lifetime CHECK (closes_at <= reopened_at + interval '24 hours')
);
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON founding_reopening
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON founding_reopening
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE founding_reopening ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- Whether a key of this person is admitted at once: so far fewer than two people of the role have had a key
-- that counted, and this person is not one of them. What has ended meanwhile makes no difference, nor that a
-- client was removed: else whoever ends a key could take its place. A founding that the operator has opened
-- again counts those who had an active key at that time, and who got one since. The caller who writes holds
-- lock_people.
CREATE OR REPLACE FUNCTION is_founding_person(p_client uuid, p_role text) RETURNS boolean
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    opened founding_reopening;
    founders uuid[];
BEGIN
    SELECT * INTO opened FROM founding_reopening
     WHERE role = p_role AND closes_at > clock_timestamp()
     ORDER BY reopened_at DESC LIMIT 1;
    founders := ARRAY(
        SELECT unnest(opened.people)
        UNION
        SELECT k.client_id FROM person_key k JOIN client c ON c.id = k.client_id
         WHERE c.role = p_role AND k.admitted_at >= coalesce(opened.reopened_at, '-infinity'));
    RETURN cardinality(founders) < 2 AND NOT p_client = ANY (founders);
END $$;

-- 'reopened', 'enough_people' or 'lost_race': the founding of a role is open again for 24 hours from p_at.
-- p_people are those who have an active key, whom the evidence names, in the order of their IDs. While there
-- are two, they admit.
CREATE FUNCTION reopen_founding(p_role text, p_people uuid[], p_at timestamptz, p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
DECLARE
    people uuid[];
    at timestamptz;
BEGIN
    PERFORM lock_people(p_role);
    people := ARRAY(
        SELECT DISTINCT k.client_id FROM person_key k JOIN client c ON c.id = k.client_id
         WHERE k.status = 'active' AND c.role = p_role AND c.removed_at IS NULL
         ORDER BY k.client_id);
    IF cardinality(people) >= 2 THEN RETURN 'enough_people'; END IF;
    at := clock_timestamp();
    IF (people = p_people AND p_at BETWEEN at - decision_age_max() AND at) IS NOT TRUE THEN
        RETURN 'lost_race';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['person.founding_reopened']);
    PERFORM write_evidence(p_evidence);
    INSERT INTO founding_reopening (evidence_id, role, people, reopened_at, closes_at)
    VALUES ((p_evidence -> 0 ->> 'id')::uuid, p_role, people, at, p_at + interval '24 hours');
    RETURN 'reopened';
END $$;

GRANT SELECT, INSERT ON founding_reopening TO countersign_definer;
GRANT SELECT ON founding_reopening TO countersign_service, countersign_operator, countersign_auditor;
GRANT EXECUTE ON FUNCTION stamp_person_key TO countersign_definer;
-- The service asks before it decides, and is told again under the lock.
GRANT EXECUTE ON FUNCTION is_founding_person TO countersign_service;
RESET ROLE;

-- As in V0008, but for the operator alone.
REVOKE EXECUTE ON FUNCTION countersign.reopen_founding FROM PUBLIC;
ALTER FUNCTION countersign.reopen_founding OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.reopen_founding TO countersign_operator;
