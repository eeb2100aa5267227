-- Policies, actions, challenges, decisions, execution orders, payees and limits.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- Published versions are never edited. The active one is the newest whose time has come.
CREATE TABLE policy (
    version      int PRIMARY KEY CONSTRAINT policy_version_positive CHECK (version > 0),
    document     bytea NOT NULL,
    digest       bytea NOT NULL GENERATED ALWAYS AS (sha256(document)) STORED,
    -- A copy of the document's member, so that a load need not parse the document to know the bank's day.
    time_zone    text NOT NULL,
    active_from  timestamptz NOT NULL,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE action (
    id               uuid PRIMARY KEY,
    subject_id       uuid NOT NULL REFERENCES customer (subject_id),
    client_id        uuid NOT NULL REFERENCES client (id),
    external_id      text,
    kind             text NOT NULL CONSTRAINT action_kind
                     CHECK (kind IN ('transfer', 'new_payee', 'contact_change')),
    amount           text,
    amount_minor     bigint,
    currency         text,
    debtor_account   text,
    payee_name       text,
    payee_account    text,
    payee_alias      text,
    reference        text,
    end_to_end_id    text,
    channel          text,
    old_value_digest text,
    new_value        text,
    risk             text,
    policy_version   int NOT NULL REFERENCES policy (version),
    "authorization"  text NOT NULL DEFAULT 'pending' CONSTRAINT action_authorization
                     CHECK ("authorization" IN ('pending', 'approved', 'rejected', 'expired',
                                                'cancelled', 'failed')),
    -- 'in_progress' is not stored: an action is in progress while it is ready and its order has been
    -- tried. So a claim locks the order row alone, and cancel has one row to compete for with it.
    execution        text NOT NULL DEFAULT 'none' CONSTRAINT action_execution
                     CHECK (execution IN ('none', 'held', 'ready', 'executed', 'refused',
                                          'unknown', 'cancelled')),
    hold_until       timestamptz,
    hold_rule        text,
    failures         int NOT NULL DEFAULT 0 CONSTRAINT action_failures_bound
                     CHECK (failures BETWEEN 0 AND 5),
    created_at       timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    -- Length and head of this action's chain of evidence, and its newest entry.
    seq              int NOT NULL,
    head             bytea NOT NULL,
    last_evidence_id uuid NOT NULL,
    CONSTRAINT action_external_id_unique UNIQUE (client_id, external_id),
    CONSTRAINT action_executes_only_approved CHECK ((execution = 'none') = ("authorization" <> 'approved')),
    CONSTRAINT action_hold_has_rule CHECK ((hold_until IS NULL) = (hold_rule IS NULL)),
    CONSTRAINT action_held_has_hold CHECK (execution <> 'held' OR hold_until IS NOT NULL),
    CONSTRAINT action_amount_minor_equals CHECK (amount_minor = replace(amount, '.', '')::bigint),
    CONSTRAINT action_members CHECK (CASE kind
        WHEN 'transfer' THEN num_nulls(amount, amount_minor, currency, debtor_account, payee_name,
                                       payee_account, reference, end_to_end_id) = 0
                         AND num_nonnulls(payee_alias, channel, old_value_digest, new_value) = 0
                         AND amount_minor > 0
        WHEN 'new_payee' THEN num_nulls(payee_name, payee_account, payee_alias) = 0
                          AND num_nonnulls(amount, amount_minor, currency, debtor_account, reference,
                                           end_to_end_id, channel, old_value_digest, new_value) = 0
        ELSE num_nulls(channel, old_value_digest, new_value) = 0
             AND channel IN ('phone', 'email')
             AND num_nonnulls(amount, amount_minor, currency, debtor_account, payee_name,
                              payee_account, payee_alias, reference, end_to_end_id) = 0
        END)
);
CREATE INDEX action_by_subject ON action (subject_id, id DESC);
CREATE INDEX action_pending ON action (expires_at) WHERE "authorization" = 'pending';
CREATE INDEX action_held ON action (hold_until) WHERE execution = 'held';

CREATE TABLE challenge (
    id              uuid PRIMARY KEY,
    action_id       uuid NOT NULL REFERENCES action (id),
    nonce           bytea NOT NULL CONSTRAINT challenge_nonce_unique UNIQUE
                    CONSTRAINT challenge_nonce_size CHECK (octet_length(nonce) = 32),
    approve_message bytea NOT NULL,
    reject_message  bytea NOT NULL,
    state           text NOT NULL DEFAULT 'live' CONSTRAINT challenge_state
                    CHECK (state IN ('live', 'superseded', 'consumed', 'exhausted', 'void')),
    failures        int NOT NULL DEFAULT 0 CONSTRAINT challenge_failures_bound
                    CHECK (failures BETWEEN 0 AND 5),
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    CONSTRAINT challenge_lifetime CHECK (expires_at <= created_at + interval '600 seconds'),
    CONSTRAINT challenge_messages_differ CHECK (approve_message <> reject_message)
);
CREATE INDEX challenge_by_action ON challenge (action_id, created_at);
CREATE UNIQUE INDEX challenge_one_live ON challenge (action_id) WHERE state = 'live';

-- One per action, for ever.
CREATE TABLE decision (
    action_id        uuid PRIMARY KEY REFERENCES action (id),
    outcome          text NOT NULL CONSTRAINT decision_outcome CHECK (outcome IN ('approved', 'rejected')),
    challenge_id     uuid UNIQUE REFERENCES challenge (id),
    credential_id    uuid REFERENCES credential (id),
    -- SHA-256 of the signed bytes and of the assertion as it came, to recognise the same one again.
    message_digest   bytea NOT NULL,
    assertion_digest bytea,
    -- The answer as given: what a replay repeats, whatever has happened since.
    execution        text NOT NULL,
    hold_until       timestamptz,
    hold_rule        text,
    evidence_id      uuid NOT NULL UNIQUE,
    leaf_hash        bytea NOT NULL,
    decided_at       timestamptz NOT NULL,
    CONSTRAINT decision_binds UNIQUE (action_id, outcome, message_digest),
    CONSTRAINT decision_approved_is_signed CHECK (outcome <> 'approved'
        OR num_nulls(challenge_id, credential_id, assertion_digest) = 0)
);

-- The order to core banking; its bytes are those that the customer signed. The foreign key and the
-- CHECK together make it impossible to store an order for anything that was not approved byte for byte.
CREATE TABLE execution_order (
    action_id          uuid PRIMARY KEY,
    outcome            text NOT NULL DEFAULT 'approved'
                       CONSTRAINT execution_order_approved CHECK (outcome = 'approved'),
    message            bytea NOT NULL,
    message_digest     bytea NOT NULL CONSTRAINT execution_order_bytes CHECK (sha256(message) = message_digest),
    signature          bytea NOT NULL,
    client_data_json   bytea,
    authenticator_data bytea,
    available_at       timestamptz NOT NULL,
    attempt            int NOT NULL DEFAULT 0,
    first_attempt_at   timestamptz,
    lease_token        uuid,
    lease_until        timestamptz,
    settled_at         timestamptz,
    CONSTRAINT execution_order_decision FOREIGN KEY (action_id, outcome, message_digest)
        REFERENCES decision (action_id, outcome, message_digest)
);
CREATE INDEX execution_order_due ON execution_order (available_at) WHERE settled_at IS NULL;

CREATE TABLE receipt (
    action_id   uuid PRIMARY KEY REFERENCES execution_order (action_id),
    status      text NOT NULL CONSTRAINT receipt_status CHECK (status IN ('executed', 'refused')),
    reference   text,
    reason      text,
    raw         bytea NOT NULL,
    evidence_id uuid NOT NULL UNIQUE,
    received_at timestamptz NOT NULL
);

-- New keys announced to core banking, so that it has a register of its own.
CREATE TABLE credential_announcement (
    credential_id    uuid PRIMARY KEY REFERENCES credential (id),
    available_at     timestamptz NOT NULL,
    attempt          int NOT NULL DEFAULT 0,
    first_attempt_at timestamptz,
    lease_token      uuid,
    lease_until      timestamptz,
    settled_at       timestamptz
);
CREATE INDEX credential_announcement_due ON credential_announcement (available_at)
    WHERE settled_at IS NULL;

-- Identity is customer and account: the same account under another name is the same payee.
CREATE TABLE payee (
    id                uuid PRIMARY KEY,
    subject_id        uuid NOT NULL REFERENCES customer (subject_id),
    account           text NOT NULL,
    name              text NOT NULL,
    alias             text NOT NULL DEFAULT '',
    status            text NOT NULL DEFAULT 'active'
                      CONSTRAINT payee_status CHECK (status IN ('active', 'removed')),
    -- The action that confirmed it; NULL for a payee that the operator imported.
    action_id         uuid REFERENCES action (id),
    confirmed_at      timestamptz NOT NULL,
    usable_at         timestamptz NOT NULL,
    new_until         timestamptz NOT NULL,
    first_executed_at timestamptz,
    CONSTRAINT payee_account_unique UNIQUE (subject_id, account)
);

-- The backstop of every limit: no transaction can leave more used than the cap it was decided under.
CREATE TABLE counter (
    subject_id   uuid NOT NULL REFERENCES customer (subject_id),
    dimension    text NOT NULL,
    window_start date NOT NULL,
    used         bigint NOT NULL,
    cap          bigint NOT NULL,
    PRIMARY KEY (subject_id, dimension, window_start),
    CONSTRAINT counter_within_cap CHECK (used BETWEEN 0 AND cap)
);
-- What an approved action counts for, so that it can be given back once.
CREATE TABLE reservation (
    action_id    uuid NOT NULL REFERENCES action (id),
    dimension    text NOT NULL,
    window_start date NOT NULL,
    amount       bigint NOT NULL CONSTRAINT reservation_positive CHECK (amount > 0),
    returned_at  timestamptz,
    PRIMARY KEY (action_id, dimension)
);

-- Written in the transaction of what it protects, so that a crash leaves nothing behind.
CREATE TABLE idempotency (
    client_id   uuid NOT NULL REFERENCES client (id),
    route       text NOT NULL,
    key         text NOT NULL,
    fingerprint bytea NOT NULL,
    status      int NOT NULL,
    answer      bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (client_id, route, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Refuses an illegal transition, a change of content, and a transition without its evidence.
CREATE FUNCTION guard_action() RETURNS trigger LANGUAGE plpgsql
SET search_path = countersign, pg_temp AS $$
DECLARE
    entry record;
BEGIN
    IF (new.id, new.subject_id, new.client_id, new.external_id, new.kind, new.amount,
        new.amount_minor, new.currency, new.debtor_account, new.payee_name, new.payee_account,
        new.payee_alias, new.reference, new.end_to_end_id, new.channel, new.old_value_digest,
        new.new_value, new.risk, new.policy_version, new.created_at, new.expires_at)
       IS DISTINCT FROM
       (old.id, old.subject_id, old.client_id, old.external_id, old.kind, old.amount,
        old.amount_minor, old.currency, old.debtor_account, old.payee_name, old.payee_account,
        old.payee_alias, old.reference, old.end_to_end_id, old.channel, old.old_value_digest,
        old.new_value, old.risk, old.policy_version, old.created_at, old.expires_at) THEN
        RAISE EXCEPTION 'the content of an action is immutable' USING ERRCODE = 'CS003';
    END IF;
    IF new."authorization" <> old."authorization" AND old."authorization" <> 'pending' THEN
        RAISE EXCEPTION 'authorization is final' USING ERRCODE = 'CS004';
    END IF;
    IF new.execution <> old.execution AND (old.execution, new.execution) NOT IN (
        ('none', 'held'), ('none', 'ready'), ('held', 'ready'), ('held', 'cancelled'),
        ('ready', 'cancelled'), ('ready', 'executed'), ('ready', 'refused'), ('ready', 'unknown'),
        ('unknown', 'executed'), ('unknown', 'refused')) THEN
        RAISE EXCEPTION 'illegal execution transition' USING ERRCODE = 'CS004';
    END IF;
    IF new."authorization" <> old."authorization" OR new.execution <> old.execution THEN
        SELECT e.action_id, e.xid, e.leaf_hash INTO entry
          FROM evidence e WHERE e.id = new.last_evidence_id;
        IF entry.action_id IS DISTINCT FROM new.id OR entry.xid <> pg_current_xact_id()
            OR entry.leaf_hash <> new.head OR new.seq <= old.seq THEN
            RAISE EXCEPTION 'a transition needs its evidence' USING ERRCODE = 'CS005';
        END IF;
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER guard BEFORE UPDATE ON action FOR EACH ROW EXECUTE FUNCTION guard_action();
ALTER TABLE action ENABLE ALWAYS TRIGGER guard;

DO $$
DECLARE
    name text;
BEGIN
    -- Rows of these are never deleted, and those of the first group never changed.
    FOREACH name IN ARRAY ARRAY['decision', 'receipt', 'policy', 'sca_token'] LOOP
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE ON %I
            FOR EACH ROW EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_change', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['action', 'challenge', 'execution_order', 'credential', 'customer'] LOOP
        EXECUTE format('CREATE TRIGGER no_delete BEFORE DELETE ON %I
            FOR EACH ROW EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_delete', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['decision', 'receipt', 'policy', 'sca_token', 'action', 'challenge',
                                'execution_order', 'credential', 'customer'] LOOP
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I
            FOR EACH STATEMENT EXECUTE FUNCTION forbid_change()', name);
        EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER no_truncate', name);
    END LOOP;
END $$;
RESET ROLE;
