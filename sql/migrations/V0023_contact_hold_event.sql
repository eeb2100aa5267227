-- A change of contact data holds what moves money for a time: the bank tells its customer, over the old
-- contact too.
-- Deployment: the trigger's condition is changed; the table customer is locked for a moment.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- As in V0015, with the hold after a change of contact data.
CREATE OR REPLACE FUNCTION tell_of_customer() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
BEGIN
    IF new.locked_until IS DISTINCT FROM old.locked_until AND new.locked_until IS NOT NULL THEN
        INSERT INTO event (kind, subject_id, document)
        VALUES ('customer.locked', new.subject_id,
                json_build_object('until', rfc3339(new.locked_until)));
    END IF;
    IF new.recovered_at IS DISTINCT FROM old.recovered_at THEN
        INSERT INTO event (kind, subject_id, document)
        VALUES ('recovery', new.subject_id,
                json_build_object('recovered_at', rfc3339(new.recovered_at)));
    END IF;
    IF new.contact_hold_until IS DISTINCT FROM old.contact_hold_until
        AND new.contact_hold_until > clock_timestamp() THEN
        INSERT INTO event (kind, subject_id, document)
        VALUES ('hold.placed', new.subject_id,
                json_build_object('action_kind', NULL, 'until', rfc3339(new.contact_hold_until),
                    'rule', 'contact_change_hold'));
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER tell ON customer;
CREATE TRIGGER tell AFTER UPDATE OF locked_until, recovered_at, contact_hold_until ON customer FOR EACH ROW
    WHEN (new.locked_until IS DISTINCT FROM old.locked_until
          OR new.recovered_at IS DISTINCT FROM old.recovered_at
          OR new.contact_hold_until IS DISTINCT FROM old.contact_hold_until)
    EXECUTE FUNCTION tell_of_customer();
RESET ROLE;
