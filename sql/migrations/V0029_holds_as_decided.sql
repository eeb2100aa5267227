-- A release asks the decision, which nothing changes, how long it was held: whoever shortens a hold in the
-- action with triggers off releases nothing.
-- Deployment: functions only.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0013, but for the comparison. It raises: no program makes the two differ, and the sweep goes on with
-- the next action.
CREATE OR REPLACE FUNCTION release_execution(p_subject uuid, p_action uuid, p_evidence jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = countersign, pg_temp AS $$
BEGIN
    -- Holds of before V0013 all end in a release.
    IF NOT EXISTS (
        SELECT FROM action a JOIN decision d ON d.action_id = a.id
         WHERE a.id = p_action AND a.hold_until = d.hold_until AND a.hold_rule = d.hold_rule
           AND coalesce(a.hold_end, 'release') = coalesce(d.hold_end, 'release')) THEN
        RAISE EXCEPTION 'the hold is not the one that was decided' USING ERRCODE = 'CS003';
    END IF;
    PERFORM advance_action(p_action, p_evidence, NULL, 'ready');
    IF EXISTS (SELECT FROM action WHERE id = p_action AND kind = 'limit_change') THEN
        -- What the limit was is told by the approval, whose decision it was.
        PERFORM set_limit(p_action, (SELECT limit_before FROM action WHERE id = p_action));
        UPDATE customer SET version = version + 1 WHERE subject_id = p_subject;
    END IF;
END $$;
RESET ROLE;
