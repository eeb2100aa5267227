/// One setting: a line of the table that help and `docs/operations.md` are made from.
struct Setting: Sendable {
    /// As in a file: `tls.client_ca`.
    let name: String
    /// What it takes, in words: "an integer from 1 to 256".
    let expects: String
    /// The value when it is not set, as it would be written; `nil` when there is none.
    let fallback: String?
    /// One clause for help and documentation.
    let what: String
    /// The setting whose place this one takes: only one of the two is set, and either serves.
    let insteadOf: String?
    let kind: Kind
    /// Reads a text into its place; `false` when it is not a value of this setting.
    let assign: @Sendable (inout Configuration, String) -> Bool
    /// The key file that a configuration names here, if this setting is one.
    let keyFile: @Sendable (Configuration) -> FilePath?

    /// How carefully a value is treated.
    enum Kind: Sendable {
        /// May be shown.
        case plain
        /// Yes or no; as a flag it may stand alone.
        case yesOrNo
        /// Is itself a secret, and may be given as `file:PATH` instead.
        case secret
        /// Names a file with a private or symmetric key, which others must not be able to read.
        case keyFile
    }

    /// The name in the environment: `COUNTERSIGN_TLS_CLIENT_CA`.
    var environmentName: String {
        "COUNTERSIGN_" + name.replacing(".", with: "_").uppercased()
    }
    /// The flag: `--tls-client-ca`.
    var flag: String {
        "--" + name.replacing(".", with: "-").replacing("_", with: "-")
    }
    /// The part of the name before the dot, by which commands say what they read.
    var group: String { String(name.prefix { $0 != "." }) }
    var isSwitch: Bool { kind == .yesOrNo }
    var isSecret: Bool { kind == .secret }
    /// The setting that can take this one's place.
    var alternative: Setting? { Setting.all.first { $0.insteadOf == name } }

    init<Value>(
        _ name: String, _ path: any (WritableKeyPath<Configuration, Value> & Sendable),
        _ parser: SettingParser<Value>, default fallback: String? = nil,
        insteadOf other: String? = nil, _ what: String
    ) {
        self.name = name
        self.fallback = fallback
        self.what = what
        insteadOf = other
        expects = parser.expects
        kind = parser.kind
        assign = { configuration, text in
            guard let value = parser.parse(text) else { return false }
            configuration[keyPath: path] = value
            return true
        }
        keyFile = { configuration in
            parser.kind == .keyFile ? configuration[keyPath: path] as? FilePath : nil
        }
    }

    /// The setting of that name.
    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    /// Every setting there is, in the order of the documentation.
    static let all: [Setting] = [
        Setting(
            "database.url", \.database.url, .connectionString,
            "the database, as the role of the service"),
        Setting(
            "database.admin_url", \.database.adminURL, .connectionString,
            "the database, as the role that owns the schema; read by `migrate` alone"),
        Setting(
            "database.pool_size", \.database.poolSize, .integer(1...256), default: "8",
            "connections to the database"),
        Setting(
            "listen.address", \.listen.address, .address, default: "127.0.0.1",
            "the address that callers connect to"),
        Setting(
            "listen.port", \.listen.port, .integer(0...65_535), default: "8443",
            "its port; 0 lets the system choose"),
        Setting(
            "plain_http_allowed", \.plainHTTPAllowed, .yesOrNo, default: "false",
            "serve without TLS on an address that is not loopback, behind a proxy that has TLS"),
        Setting(
            "tls.certificate", \.tls.certificate, .file,
            "the service's certificate chain, PEM"),
        Setting("tls.key", \.tls.key, .keyFile, "its private key, PEM"),
        Setting(
            "tls.client_ca", \.tls.clientCA, .file,
            "the authorities that issue callers' certificates, PEM"),
        Setting(
            "tls.client_certificate", \.tls.clientCertificate, .choice(), default: "optional",
            "whether a caller presents a certificate; one that is presented must verify"),
        Setting(
            "rp.id", \.rp.id, .domain,
            "the relying-party ID of passkeys and the audience of every signed message"),
        Setting("rp.name", \.rp.name, .line(64), "the bank's name, as passkey dialogs show it"),
        Setting(
            "rp.origins", \.rp.origins, .origins,
            "the origins that passkey assertions may come from"),
        Setting(
            "webauthn.algorithms", \.webauthn.algorithms, .algorithms, default: "ES256",
            "the algorithms that passkeys may have, the preferred first; taking one out disables those that have it"
        ),
        Setting(
            "webauthn.attestation_anchors", \.webauthn.attestationAnchors, .folder,
            "PEM certificates that passkeys' attestations may lead to: FORMAT/*.pem, or "
                + "FORMAT/AAGUID/*.pem for one model; read at start"),
        Setting(
            "webauthn.metadata", \.webauthn.metadata, .file,
            "the FIDO Metadata Service's BLOB; its models are trusted until its next update is due"),
        Setting(
            "webauthn.metadata_root", \.webauthn.metadataRoot, .file,
            "the root certificate that the BLOB's signature must lead to, PEM"),
        Setting(
            "android.package", \.android.package, .applicationID,
            "the application ID of the bank's Android app"),
        Setting(
            "android.certificates", \.android.certificates, .fingerprints, default: "",
            "SHA-256 fingerprints of the certificates that sign it; each is an origin of passkeys too"
        ),
        Setting(
            "android.patch_level_min", \.android.patchLevelMin, .patchLevel, default: "0",
            "the oldest security patch level (YYYYMM) of a system whose key is taken as attested"),
        Setting(
            "android.revocation_list", \.android.revocationList, .file,
            "Google's list of revoked attestation certificates, JSON; looked at before each enrolment"
        ),
        Setting(
            "android.revocation_list_max_age_hours", \.android.revocationListMaxAgeHours,
            .integer(1...2160), default: "168",
            "how old that file may be; with an older one, or none, no attested Android key is enrolled"
        ),
        Setting(
            "apple.app_id", \.apple.appID, .appleAppID,
            "the bank's iOS app, as TEAMID.bundle.id"),
        Setting(
            "apple.environment", \.apple.environment, .choice(), default: "production",
            "which of Apple's App Attest services its attestations come from"),
        Setting(
            "payment.instrument_name", \.payment.instrumentName, .line(64),
            "what browsers show as the means of payment; without it and the icon they confirm none"),
        Setting(
            "payment.instrument_icon", \.payment.instrumentIcon, .icon, "the picture beside it"),
        Setting(
            "payment.origins", \.payment.origins, .origins,
            "the origins that browsers' confirmations of payments may come from; "
                + "without it those of rp.origins"),
        Setting(
            "payment.top_origins", \.payment.topOrigins, .origins,
            "other sites' pages that may hold one of those in a frame; without it none may"),
        Setting(
            "development", \.development, .yesOrNo, default: "false",
            "loosen what a developer cannot have yet: only on loopback, never with customers"),
        Setting(
            "identity.key", \.identity.key, .file,
            "public key (PEM) of the bank's identity system, whose tokens vouch for first keys"),
        Setting(
            "evidence.origin", \.evidence.origin, .logOrigin,
            "the name of this installation in every record of evidence; never changes"),
        Setting(
            "evidence.key_encryption_key", \.evidence.keyEncryptionKey, .keyFile,
            "the key that wraps each customer's evidence key: 32 bytes, raw or as 64 hex digits"),
        Setting(
            "evidence.key_encryption_command", \.evidence.keyEncryptionCommand, .program,
            insteadOf: "evidence.key_encryption_key",
            "in its place, a program that writes that key, run once at the start of whatever needs it"
        ),
        Setting(
            "evidence.retention_days", \.evidence.retentionDays, .integer(0...36_500),
            default: "1826",
            "how old a customer's newest record must be before it can be erased, and a month of evidence before "
                + "it can be detached; at least 1826, but under development"),
        Setting(
            "privacy.database_url", \.privacy.databaseURL, .connectionString,
            "the database, as countersign_privacy; without it nobody is erased and no legal hold is set"
        ),
        Setting(
            "log.key", \.log.key, .keyFile,
            "the Ed25519 private key that signs checkpoints of the log, PEM"),
        Setting(
            "log.sign_command", \.log.signCommand, .program, insteadOf: "log.key",
            "in its place, a program that signs its standard input and writes the 64 bytes"),
        Setting(
            "log.verifier_key", \.log.verifierKey, .line(256),
            "the verifier key of what that program signs with, as C2SP signed-note writes it"),
        Setting(
            "log.old_key", \.log.oldKey, .keyFile,
            "the key before log.key, which signs too while verifiers change over, PEM"),
        Setting(
            "log.old_sign_command", \.log.oldSignCommand, .program, insteadOf: "log.old_key",
            "in its place, a program as log.sign_command"),
        Setting(
            "log.old_verifier_key", \.log.oldVerifierKey, .line(256),
            "the verifier key of what that program signs with"),
        Setting(
            "log.tick_milliseconds", \.log.tickMilliseconds, .integer(250...1000), default: "500",
            "milliseconds between two batches of the log"),
        Setting(
            "log.mirror", \.log.mirror, .folder,
            "a directory that the log is copied to, and compared with before anything is signed"),
        Setting(
            "log.witness_policy", \.log.witnessPolicy, .file,
            "the witnesses that cosign checkpoints, and which of them it takes: a policy of C2SP "
                + "tlog-policy"),
        Setting(
            "log.timestamp_urls", \.log.timestampURLs, .urls,
            "the authorities that stamp checkpoints (RFC 3161)"),
        Setting(
            "log.timestamp_ca", \.log.timestampCA, .file,
            "the root certificates that the authorities' signatures must come from, PEM"),
        Setting(
            "log.timestamp_policies", \.log.timestampPolicies, .objectIdentifiers,
            "the policies of the authorities that a timestamp may be made under; without it every one"
        ),
        Setting(
            "log.witness_seconds", \.log.witnessSeconds, .integer(1...3600), default: "10",
            "seconds at least between two checkpoints that witnesses are shown"),
        Setting(
            "log.timestamp_seconds", \.log.timestampSeconds, .integer(1...86_400), default: "60",
            "seconds at least between two timestamps of one authority"),
        Setting(
            "log.alarm_seconds", \.log.alarmSeconds, .integer(1...86_400), default: "300",
            "seconds for which witnesses or authorities may be silent before an alarm tells it, and again"
        ),
        Setting(
            "promise.key", \.promise.key, .keyFile,
            "the Ed25519 private key that signs promises of records and nothing else, PEM"),
        Setting(
            "promise.within_seconds", \.promise.withinSeconds, .integer(600...86_400),
            default: "3600",
            "how long after a decision its record may still be missing in the log, before the promise is broken"
        ),
        Setting(
            "core.url", \.core.url, .url, "where execution orders are sent; without it none are"),
        Setting(
            "core.ca", \.core.ca, .file,
            "the authorities that core banking's certificate must come from, PEM"),
        Setting(
            "core.certificate", \.core.certificate, .file,
            "the client certificate shown to core banking, PEM"),
        Setting("core.key", \.core.key, .keyFile, "its private key, PEM"),
        Setting(
            "core.signing_key", \.core.signingKey, .keyFile,
            "the Ed25519 key that signs execution orders and pushed events, PKCS#8 PEM"),
        Setting(
            "core.signing_key_id", \.core.signingKeyID, .token(64),
            "the name by which core banking knows that key"),
        Setting(
            "delivery.slots", \.delivery.slots, .integer(1...64), default: "4",
            "execution orders under way to core banking at once"),
        Setting(
            "delivery.mode", \.delivery.mode, .deliveryMode,
            "how core banking gets orders: sent to it, fetched by it, or not at all; without it push "
                + "where core.url is set, else pull"),
        Setting(
            "events.url", \.events.url, .url,
            "where the feed of events is sent, signed as orders are; without it, it is only read"),
        Setting(
            "policy.decision_retention_days", \.policy.decisionRetentionDays,
            .integer(30...36_500), default: "400",
            "how long what decisions looked at is kept for dry runs; evidence keeps it, encrypted, for ever"
        ),
        Setting(
            "device_requests.mode", \.deviceRequests.mode, .choice(), default: "enforce",
            "whether signed requests that are refused are kept from being carried out; a credential "
                + "may have a mode of its own"),
        Setting(
            "limits.request_body_bytes", \.limits.requestBodyBytes, .integer(4096...1_048_576),
            default: "65536", "the longest request body"),
        Setting(
            "limits.read_deadline_seconds", \.limits.readDeadlineSeconds, .integer(1...120),
            default: "10", "the time in which a request must have arrived"),
        Setting(
            "limits.drain_seconds", \.limits.drainSeconds, .integer(0...300), default: "20",
            "the time that requests under way have to end after SIGTERM"),
        Setting(
            "failpoint", \.failpoint, .failpoint,
            "for tests under development: where the service kills itself"),
    ]
}
