-- What an audit relies on: bodies and keys of evidence stay where they are, and whether an installation is for
-- development is evidence itself.
-- Deployment: triggers and one function only; no old data is read or locked for long.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- A record without its body proves nothing, and one whose key is gone the same. Nothing erases yet: whatever
-- will, brings its own rule and the evidence of it. Rows of subject_key are made when a customer is first seen.
CREATE TRIGGER no_delete BEFORE DELETE ON evidence_body FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON subject_key
    FOR EACH ROW EXECUTE FUNCTION forbid_change();
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON subject_key
    FOR EACH STATEMENT EXECUTE FUNCTION forbid_change();
ALTER TABLE evidence_body ENABLE ALWAYS TRIGGER no_delete;
ALTER TABLE subject_key ENABLE ALWAYS TRIGGER no_change, ENABLE ALWAYS TRIGGER no_truncate;

-- Records what the table installation says, and nothing else: what holds may have changed since it was asked
-- for. 'told', 'exists' when it was told before, or 'lost_race'. The owner's alone to call, as
-- state_installation is.
CREATE FUNCTION tell_installation(p_evidence jsonb) RETURNS text
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
DECLARE
    holds boolean;
    told text := convert_from(decode(p_evidence -> 0 ->> 'leaf', 'hex'), 'UTF8')::jsonb ->> 'outcome';
BEGIN
    SELECT is_development INTO holds FROM installation FOR UPDATE;
    IF holds IS NULL
        OR told IS DISTINCT FROM (CASE WHEN holds THEN 'development' ELSE 'production' END) THEN
        RETURN 'lost_race';
    END IF;
    IF EXISTS (SELECT FROM evidence WHERE kind = 'installation.stated'
                  AND convert_from(leaf, 'UTF8')::jsonb ->> 'outcome' = told) THEN
        RETURN 'exists';
    END IF;
    PERFORM demand_service_evidence(p_evidence, ARRAY['installation.stated']);
    PERFORM write_evidence(p_evidence);
    RETURN 'told';
END $$;
RESET ROLE;
