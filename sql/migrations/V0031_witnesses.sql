-- What others say of checkpoints is kept: cosignatures of witnesses, timestamps of authorities.
-- Deployment: two functions and rules for tables that were empty until now.
--
-- Both are verified before they come here, and both are byte for byte what verifies: anybody can check them
-- again. To record the same twice changes nothing, so that instances need not agree on who asks.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

ALTER TABLE log_cosignature
    ADD CONSTRAINT log_cosignature_witness
        CHECK (witness ~ '^[^[:space:]]+$' AND octet_length(witness) <= 256),
    -- One line of a signed note: an em dash, the key's name, key ID and signature in base64.
    ADD CONSTRAINT log_cosignature_line
        CHECK (line ~ '^\u2014 [^[:space:]+]+ [A-Za-z0-9+/]+=*\n$' AND octet_length(line) <= 1024);
ALTER TABLE log_timestamp
    ADD CONSTRAINT log_timestamp_authority
        CHECK (authority ~ '^[^[:space:]]+$' AND octet_length(authority) <= 256),
    ADD CONSTRAINT log_timestamp_size CHECK (octet_length(response) BETWEEN 1 AND 32768);

-- Only what was published was ever shown to anybody.
CREATE FUNCTION demand_published(p_size bigint) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = countersign, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM log_state WHERE published >= p_size) THEN
        RAISE EXCEPTION 'this checkpoint was not published' USING ERRCODE = 'CS009';
    END IF;
END $$;

-- A witness has cosigned a checkpoint at that time.
CREATE FUNCTION record_cosignature(p_size bigint, p_witness text, p_cosigned_at timestamptz, p_line text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_published(p_size);
    INSERT INTO log_cosignature (size, witness, cosigned_at, line)
    VALUES (p_size, p_witness, p_cosigned_at, p_line) ON CONFLICT DO NOTHING;
END $$;

-- An authority has seen a checkpoint at that time; the first it says of one is kept.
CREATE FUNCTION record_timestamp(p_size bigint, p_authority text, p_stamped_at timestamptz, p_response bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = countersign, pg_temp AS $$
BEGIN
    PERFORM demand_published(p_size);
    INSERT INTO log_timestamp (size, authority, stamped_at, response)
    VALUES (p_size, p_authority, p_stamped_at, p_response) ON CONFLICT DO NOTHING;
END $$;

RESET ROLE;

GRANT INSERT ON countersign.log_cosignature, countersign.log_timestamp TO countersign_definer;
ALTER FUNCTION countersign.record_cosignature OWNER TO countersign_definer;
ALTER FUNCTION countersign.record_timestamp OWNER TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.demand_published TO countersign_definer;
GRANT EXECUTE ON FUNCTION countersign.record_cosignature, countersign.record_timestamp TO countersign_service;
