import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import WebAuthn

/// A bank with a migrated database of its own: the real stores, verifiers and functions.
struct EnrolmentWorld: Sendable {
    static let relyingParty = "bank.example"
    static let origin = "https://bank.example"

    let test: TestDatabase
    let database: Database
    /// As the operator.
    let operations: Database
    let keyEncryption: KeyEncryptionKey
    let sealer: EvidenceSealer
    let credentials: PostgresCredentialStore
    let actions: PostgresActionStore
    let verifier: CustomerProofVerifier
    /// The bank's identity system.
    let identity: IdentitySigningKey
    let client: ID<Client>

    /// Gives `body` such a bank and takes it down afterwards.
    static func with<Result>(
        connections: Int = 16, _ body: (EnrolmentWorld) async throws -> Result
    ) async throws -> Result {
        try await withDatabase { test in
            let database = await test.open(size: connections)
            return try await body(try await EnrolmentWorld(test, database))
        }
    }

    private init(_ test: TestDatabase, _ database: Database) async throws {
        self.test = test
        self.database = database
        operations = await test.open(as: .op, size: 1)
        guard let key = KeyEncryptionKey(EntropySource.openSSL(32)) else {
            preconditionFailure("32 bytes are a key")
        }
        keyEncryption = key
        sealer = EvidenceSealer(
            log: "bank.example/log", keyEncryption: key, entropy: .openSSL)
        let subjects = SubjectMaker(keyEncryption: key, entropy: .openSSL)
        credentials = PostgresCredentialStore(
            database: database, sealer: sealer, subjects: subjects)
        actions = PostgresActionStore(database: database, sealer: sealer, subjects: subjects)
        verifier = CustomerProofVerifier(
            relyingParty: try RelyingParty(
                id: Self.relyingParty, name: "Bank", origins: [Self.origin], framing: .refused),
            payments: nil, algorithms: [.es256], attestation: .untrusting, devices: .unconfigured)
        identity = .ed25519(try .generate())
        client = ID(rawValue: 1)
        try await test.sql(
            """
            INSERT INTO countersign.client (id, name, role)
            VALUES ('\(client.text)', 'core', 'backend')
            """)
    }

    /// The use case as the service wires it and its HTTP adapter calls it.
    func service(
        firstEnrolment: FirstEnrolmentRule = .needsAuthorization
    ) -> any CredentialService {
        service(store: credentials, firstEnrolment: firstEnrolment)
    }

    /// The use case over another store.
    func service<Store: CredentialStore>(
        store: Store, firstEnrolment: FirstEnrolmentRule = .needsAuthorization
    ) -> EnrolCredential<Store, CustomerProofVerifier> {
        service(store: store, verifier: verifier, firstEnrolment: firstEnrolment)
    }

    /// The use case over another store and another verifier.
    func service<Store: CredentialStore, Verifier: AssertionVerifier & RegistrationVerifier>(
        store: Store, verifier: Verifier, firstEnrolment: FirstEnrolmentRule = .needsAuthorization
    ) -> EnrolCredential<Store, Verifier> {
        EnrolCredential(
            store: store, verifier: verifier,
            issuer: EnrolmentIssuer(
                audience: Self.relyingParty, entropy: .openSSL, sha256: .openSSL,
                creationOptions: { challenge, handle, label, exclude, _, wish in
                    [
                        "challenge": .string(Base64.encodeURL(challenge.bytes)),
                        "user": [
                            "id": .string(Base64.encodeURL(handle)), "name": .string(label),
                        ],
                        "excludeCredentials": .array(
                            exclude.map { .string(Base64.encodeURL($0.credentialID)) }),
                        "transports": .array(
                            exclude.map { .array($0.transports.map { .string($0) }) }),
                        "attestation": .string(wish == .needed ? "direct" : "none"),
                    ]
                },
                requestOptions: { challenge, passkeys, _ in
                    [
                        "challenge": .string(Base64.encodeURL(challenge.bytes)),
                        "allowCredentials": .array(
                            passkeys.map { .string(Base64.encodeURL($0.credentialID)) }),
                    ]
                }),
            sha256: .openSSL, identityToken: identity.publicKey.tokenReader,
            firstEnrolment: firstEnrolment)
    }

    /// The database's time.
    func now() async throws -> Instant {
        let statement = Statement("now", .read, Bytes("SELECT clock_timestamp() AS now".utf8))
        return try await database.query(statement) { rows throws(PostgresError) in
            guard let row = try rows.single() else { throw .malformedColumn("now") }
            return try row["now"]
        }
    }

    /// One number out of the database, as the superuser.
    func count(_ expression: String) async throws -> Int {
        let rows = try await test.sql("SELECT (\(expression))::bigint AS value")
        guard let row = rows.first else { return -1 }
        return try row["value"]
    }
}

// MARK: What customers and their bank do

extension EnrolmentWorld {
    static func customer(_ text: String = "c-1001") throws -> CustomerID { try CustomerID(text) }

    func begin(
        _ kind: CredentialKind = .deviceKey, for customer: CustomerID, label: String = "Phone"
    ) async throws -> EnrolmentOffer {
        let outcome = try await service().beginEnrolment(
            BeginEnrolmentCommand(
                client: client, customerID: customer, kind: kind,
                label: try DisplayText(label, .credentialLabel)))
        guard case .begun(let offer) = outcome else { throw Unexpected("\(outcome)") }
        return offer
    }

    /// What the bank's identity system says after it authenticated the customer.
    func token(
        _ enrolment: ID<Enrolment>, _ customer: CustomerID, key: Bytes, jti: String? = nil,
        expiresIn: Int64 = 300, extra: [JSON.Member] = []
    ) async throws -> String {
        let expiry = (try await now() + Seconds(expiresIn)).wholeSeconds
        let claims: [JSON.Member] = [
            .init("enrolment_id", .string(enrolment.text)),
            .init("customer_id", .string(customer.text)),
            .init("key_digest", .string(sha256(key).hex)),
            .init("exp", .integer(expiry.milliseconds / 1000)),
            .init("jti", .string(jti ?? Hex.encode(EntropySource.openSSL(16)))),
        ]
        return try CompactJWS.sign(.object(claims + extra), key: identity)
    }

    func finish(
        _ enrolment: ID<Enrolment>, _ customer: CustomerID, _ offered: OfferedCredential,
        _ authorization: EnrolmentAuthorization,
        firstEnrolment: FirstEnrolmentRule = .needsAuthorization
    ) async throws -> FinishOutcome {
        try await service(firstEnrolment: firstEnrolment).finishEnrolment(
            FinishEnrolmentCommand(
                client: client, customerID: customer, enrolmentID: enrolment, offered: offered,
                authorization: authorization))
    }

    /// Enrols a fresh device key with a token.
    func enrolled(_ customer: CustomerID) async throws -> Phone {
        let key = try P256PrivateKey.generate()
        let offer = try await begin(for: customer)
        let outcome = try await finish(
            offer.id, customer, .deviceKey(try offered(key, offer.message)),
            .scaToken(try await token(offer.id, customer, key: key.publicKey.spki)))
        guard case .enrolled(let credential) = outcome else { throw Unexpected("\(outcome)") }
        return Phone(key: key, credential: credential.id)
    }

    func offered(
        _ key: P256PrivateKey, _ message: Bytes, attestation: DeviceAttestation? = nil
    ) throws -> OfferedDeviceKey {
        OfferedDeviceKey(
            publicKey: key.publicKey.pem, signature: try key.sign(message),
            platform: try DevicePlatform("ios"), attestation: attestation)
    }

    /// Asks for the question by which an active credential vouches for a key.
    func question(
        _ enrolment: ID<Enrolment>, _ customer: CustomerID, key: Bytes
    ) async throws -> AuthorizationChallenge {
        let outcome = try await service().beginAuthorization(
            customer: customer, enrolment: enrolment, keyDigest: sha256(key))
        guard case .challenged(let challenge) = outcome else { throw Unexpected("\(outcome)") }
        return challenge
    }

    func revocation(of credential: ID<Credential>) throws -> RevokeCredentialCommand {
        RevokeCredentialCommand(
            client: client, credential: credential, reason: try DisplayText("lost", .reason))
    }

    func revoke(_ credential: ID<Credential>) async throws -> RecordedCredential? {
        try await service().revoke(try revocation(of: credential))
    }

    /// All evidence of the world in the order in which it was written, checked one by one and as
    /// chains.
    func evidence() async throws -> [StoredEvidence] {
        try await EvidenceReader.all(in: test)
    }
}

/// A device key that is enrolled.
struct Phone: Sendable {
    let key: P256PrivateKey
    let credential: ID<Credential>

    func sign(_ message: Bytes) throws -> UnverifiedAssertion {
        .deviceKey(credential: credential, signature: try key.sign(message))
    }

    func vouch(_ challenge: AuthorizationChallenge) throws -> EnrolmentAuthorization {
        .assertion(challenge: challenge.id, try sign(challenge.message))
    }
}

/// Something that a test relies on did not happen.
struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension FinishOutcome {
    var credential: RecordedCredential? {
        if case .enrolled(let credential) = self { credential } else { nil }
    }

    var refusal: EnrolmentRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
