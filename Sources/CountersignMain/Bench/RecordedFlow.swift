/// SQL that makes the parameters of flows for `pgbench`, from a flow that the service has just played.
///
/// `pgbench` can neither sign nor encrypt, and the product's functions check neither: they check IDs,
/// times, counts, and what the messages say. So the bytes of evidence, messages and answer are those
/// of a real flow, with fresh IDs and times: the same sizes, and ciphertext that is one.
///
/// The schema `bench` is made in the benchmark's own database and nowhere else.
enum RecordedFlow {
    /// Makes the schema; the newest approved action is the model.
    static let schema = """
        DROP SCHEMA IF EXISTS bench CASCADE;
        CREATE SCHEMA bench;
        GRANT USAGE ON SCHEMA bench TO countersign_service;
        CREATE TABLE bench.customer AS
        SELECT (m.lane * m.per_lane + m.number)::int AS n, c.customer_id, c.subject_id, k.id AS credential_id
          FROM (SELECT customer_id, split_part(customer_id, '-', 2)::int AS lane,
                       split_part(customer_id, '-', 3)::int AS number,
                       max(split_part(customer_id, '-', 3)::int) OVER () + 1 AS per_lane
                  FROM countersign.customer WHERE customer_id LIKE 'bench-%') m
          JOIN countersign.customer c USING (customer_id)
          JOIN countersign.credential k ON k.subject_id = c.subject_id;
        ALTER TABLE bench.customer ADD PRIMARY KEY (n);
        GRANT SELECT ON bench.customer TO countersign_service;
        CREATE TABLE bench.model AS
        SELECT a.*, c.customer_id, d.credential_id, d.assertion_digest, ch.id AS challenge_id,
               convert_from(ch.approve_message, 'UTF8') AS approve_message,
               convert_from(ch.reject_message, 'UTF8') AS reject_message,
               i.fingerprint, i.answer, o.signature, r.cap, cl.id AS client
          FROM countersign.action a
          JOIN countersign.customer c USING (subject_id)
          JOIN countersign.decision d ON d.action_id = a.id AND d.outcome = 'approved'
          JOIN countersign.challenge ch ON ch.id = d.challenge_id
          JOIN countersign.execution_order o ON o.action_id = a.id
          JOIN countersign.counter r ON r.subject_id = a.subject_id AND r.dimension = 'day:EUR'
          JOIN countersign.client cl ON cl.id = a.client_id
          JOIN countersign.idempotency i ON i.client_id = a.client_id
               AND strpos(convert_from(i.answer, 'UTF8'), a.id::text) > 0
         ORDER BY a.id DESC LIMIT 1;
        CREATE TABLE bench.entry AS
        SELECT e.kind,
               '","kind":"' || e.kind || '"' AS kind_part,
               ',"leaf":"' || encode(e.leaf, 'hex') || '","body_commit":"'
               || encode(e.body_commit, 'hex') || '","salt":"' || encode(b.salt, 'hex')
               || '","nonce":"' || encode(b.nonce, 'hex') || '","ciphertext":"'
               || encode(b.ciphertext, 'hex') || '"}' AS bytes_part
          FROM countersign.evidence e
          JOIN countersign.evidence_body b ON b.evidence_id = e.id
         WHERE e.action_id = (SELECT id FROM bench.model);
        """ + "\n" + function

    /// Constants of the model stand in the function's body, so that a call reads one row, the customer.
    private static let function = """
        DO $do$
        DECLARE
            m bench.model;
            created bench.entry;
            issued bench.entry;
            approved bench.entry;
            head text;
        BEGIN
            SELECT * INTO STRICT m FROM bench.model;
            SELECT * INTO STRICT created FROM bench.entry WHERE kind = 'action.created';
            SELECT * INTO STRICT issued FROM bench.entry WHERE kind = 'challenge.issued';
            SELECT * INTO STRICT approved FROM bench.entry WHERE kind = 'action.approved';
            head := (jsonb_build_object('kind', m.kind, 'external_id', NULL, 'risk', m.risk,
                'policy_version', m.policy_version, 'amount', m.amount, 'amount_minor', m.amount_minor,
                'currency', m.currency, 'debtor_account', m.debtor_account,
                'payee_name', m.payee_name, 'payee_account', m.payee_account,
                'reference', m.reference, 'end_to_end_id', m.end_to_end_id))::text;
            EXECUTE format($format$
        CREATE FUNCTION bench.flow(n int, OUT customer_id text, OUT key text, OUT action_id uuid,
            OUT challenge_id uuid, OUT credential_id uuid, OUT action text, OUT challenge text,
            OUT creation text, OUT message text, OUT approval text)
        LANGUAGE plpgsql AS $function$
        DECLARE
            c bench.customer;
            at timestamptz := clock_timestamp();
            ms text := lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7';
            r text := replace(gen_random_uuid()::text || gen_random_uuid() || gen_random_uuid()
                || gen_random_uuid() || gen_random_uuid(), '-', '');
            common text;
            approve text;
            reject text;
        BEGIN
            SELECT * INTO STRICT c FROM bench.customer b WHERE b.n = flow.n;
            customer_id := c.customer_id;
            credential_id := c.credential_id;
            key := replace(gen_random_uuid()::text, '-', '');
            action_id := (ms || substr(r, 14, 19))::uuid;
            challenge_id := (ms || substr(r, 46, 19))::uuid;
            action := '{"id":"' || action_id || '","created_at":"' || at || '","expires_at":"'
                || at + interval '900 s' || '",' || %1$L;
            approve := replace(replace(replace(%2$L, %4$L, action_id::text),
                %5$L, challenge_id::text), %6$L, c.customer_id);
            reject := replace(replace(replace(%3$L, %4$L, action_id::text),
                %5$L, challenge_id::text), %6$L, c.customer_id);
            message := '\\x' || encode(convert_to(approve, 'UTF8'), 'hex');
            challenge := '{"id":"' || challenge_id || '","nonce":"'
                || encode(sha256(r::bytea), 'hex') || '","approve_message":"'
                || substr(message, 3) || '","reject_message":"'
                || encode(convert_to(reject, 'UTF8'), 'hex') || '","created_at":"' || at
                || '","expires_at":"' || at + interval '300 s' || '"}';
            common := ',"action_id":"' || action_id || '","subject_id":"' || c.subject_id
                || '","credential_id":';
            creation := '[{"id":"' || (ms || substr(r, 78, 19))::uuid || %7$L || common
                || 'null' || %8$L || ',{"id":"' || (ms || substr(r, 110, 19))::uuid || %9$L || common
                || 'null' || %10$L || ']';
            approval := '[{"id":"' || (ms || substr(r, 142, 19))::uuid || %11$L || common
                || '"' || c.credential_id || '"' || %12$L || ']';
        END $function$
            $format$, substr(head, 2), m.approve_message, m.reject_message, m.id::text,
                m.challenge_id::text, m.customer_id, created.kind_part, created.bytes_part,
                issued.kind_part, issued.bytes_part, approved.kind_part, approved.bytes_part);
        END $do$;
        GRANT EXECUTE ON FUNCTION bench.flow TO countersign_service;
        """

    /// One row: what `pgbench` is told once, by the names of its variables.
    static let constants = """
        SELECT client::text, '\\x' || encode(fingerprint, 'hex') AS fingerprint,
               '\\x' || encode(answer, 'hex') AS answer, '\\x' || encode(signature, 'hex') AS signature,
               '\\x' || encode(assertion_digest, 'hex') AS digest,
               '{' || amount_minor || '}' AS amounts, '{' || cap || '}' AS caps,
               '{' || (SELECT (clock_timestamp() AT TIME ZONE time_zone)::date
                         FROM countersign.policy ORDER BY version DESC LIMIT 1) || '}' AS windows,
               payee_account AS account, currency,
               (SELECT '\\x' || encode(inputs, 'hex') FROM countersign.policy_decision
                 ORDER BY decided_at DESC LIMIT 1) AS inputs
          FROM bench.model
        """
}
