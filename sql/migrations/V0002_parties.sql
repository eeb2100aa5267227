-- Customers, their credentials and enrolments, and the clients that call the API.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

-- The one place that links the bank's customer to the random subject that evidence knows.
CREATE TABLE customer (
    customer_id        text PRIMARY KEY CONSTRAINT customer_id_form
                       CHECK (customer_id ~ '^[A-Za-z0-9._:-]{1,64}$'),
    subject_id         uuid NOT NULL UNIQUE,
    -- Compared and swapped by every decision: whatever a policy looks at changes only with it.
    version            bigint NOT NULL DEFAULT 0,
    failures           int NOT NULL DEFAULT 0 CONSTRAINT customer_failures_bound
                       CHECK (failures BETWEEN 0 AND 5),
    locked_until       timestamptz,
    contact_hold_until timestamptz,
    created_at         timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE credential (
    id              uuid PRIMARY KEY,
    subject_id      uuid NOT NULL REFERENCES customer (subject_id),
    kind            text NOT NULL CONSTRAINT credential_kind CHECK (kind IN ('device_key', 'passkey')),
    label           text,
    platform        text,
    -- DER SubjectPublicKeyInfo. Unique for ever, across customers and revocations.
    public_key      bytea NOT NULL CONSTRAINT credential_public_key_unique UNIQUE,
    passkey_id      bytea CONSTRAINT credential_passkey_id_unique UNIQUE
                    CONSTRAINT credential_passkey_id_size CHECK (octet_length(passkey_id) BETWEEN 1 AND 1023),
    user_handle     bytea,
    sign_count      bigint NOT NULL DEFAULT 0,
    backup_eligible boolean NOT NULL DEFAULT false,
    backup_state    boolean NOT NULL DEFAULT false,
    attestation     text NOT NULL,
    status          text NOT NULL DEFAULT 'active'
                    CONSTRAINT credential_status CHECK (status IN ('active', 'revoked')),
    created_at      timestamptz NOT NULL,
    revoked_at      timestamptz,
    seq             int NOT NULL,
    head            bytea NOT NULL,
    evidence_id     uuid NOT NULL UNIQUE,
    CONSTRAINT credential_passkey_members CHECK ((kind = 'passkey') = (passkey_id IS NOT NULL)),
    CONSTRAINT credential_revoked_time CHECK ((status = 'revoked') = (revoked_at IS NOT NULL))
);
CREATE INDEX credential_by_subject ON credential (subject_id, created_at);

CREATE TABLE enrolment (
    id          uuid PRIMARY KEY,
    subject_id  uuid NOT NULL REFERENCES customer (subject_id),
    kind        text NOT NULL CONSTRAINT enrolment_kind CHECK (kind IN ('device_key', 'passkey')),
    label       text,
    user_handle bytea,
    -- The exact bytes that the new key signs, or whose SHA-256 is the creation challenge.
    message     bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    -- Spent by the first finish, good or bad.
    spent_at    timestamptz
);
CREATE INDEX enrolment_by_subject ON enrolment (subject_id);

-- A question by which an active credential authorises a new key: one digest of one key.
CREATE TABLE enrolment_authorization (
    challenge_id uuid PRIMARY KEY,
    enrolment_id uuid NOT NULL REFERENCES enrolment (id),
    key_digest   bytea NOT NULL CONSTRAINT enrolment_authorization_digest_size
                 CHECK (octet_length(key_digest) = 32),
    message      bytea NOT NULL,
    expires_at   timestamptz NOT NULL,
    spent_at     timestamptz
);

-- Tokens of the bank's identity system that were used; each counts once, for ever.
CREATE TABLE sca_token (
    jti     text PRIMARY KEY CONSTRAINT sca_token_jti_size CHECK (length(jti) BETWEEN 1 AND 255),
    used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A client is a named system or person with one role; it may own several keys, so that a rotation
-- orphans nothing.
CREATE TABLE client (
    id         uuid PRIMARY KEY,
    name       text NOT NULL UNIQUE CONSTRAINT client_name_form CHECK (name ~ '^[A-Za-z0-9._-]{1,64}$'),
    role       text NOT NULL CONSTRAINT client_role
               CHECK (role IN ('backend', 'core', 'auditor', 'risk', 'officer', 'privacy', 'operator')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    removed_at timestamptz
);
CREATE TABLE client_key (
    -- SHA-256 of a 256-bit random key: no salt or stretching is needed for one that cannot be guessed.
    digest     bytea PRIMARY KEY CONSTRAINT client_key_digest_size CHECK (octet_length(digest) = 32),
    client_id  uuid NOT NULL REFERENCES client (id),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);
CREATE TABLE client_certificate (
    -- As the server reads it off a verified certificate: 'DNS:core.bank.example', 'URI:…'.
    subject_alternative_name text PRIMARY KEY,
    client_id  uuid NOT NULL REFERENCES client (id),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);
RESET ROLE;
