import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import WebAuthn

/// A bank on a database of its own whose people register keys and sign acts over real connections.
struct PeopleWorld: Sendable {
    let test: TestDatabase
    let database: Database
    let keyEncryption: KeyEncryptionKey
    let sealer: EvidenceSealer
    let service: ServiceSubject
    let verifier: CustomerProofVerifier
    let administration: Administration

    static func with<Result>(
        connections: Int = 16, _ body: (PeopleWorld) async throws -> Result
    ) async throws -> Result {
        try await withDatabase { test in
            try await body(try await PeopleWorld(test, test.open(size: connections)))
        }
    }

    init(
        _ test: TestDatabase, _ database: Database, key: KeyEncryptionKey? = nil
    ) async throws {
        self.test = test
        self.database = database
        guard let key = key ?? KeyEncryptionKey(EntropySource.openSSL(32)) else {
            preconditionFailure("32 bytes are a key")
        }
        keyEncryption = key
        sealer = EvidenceSealer(log: "bank.example/log", keyEncryption: key, entropy: .openSSL)
        service = ServiceSubject(
            database: database, sealer: sealer, keyEncryption: key, entropy: .openSSL)
        verifier = try Fixtures.verifier()
        administration = Administration(
            database: await test.open(as: .op, size: 1), sealer: sealer, keyEncryption: key,
            entropy: .openSSL)
    }

    var asker: PersonAsker {
        PersonAsker(
            audience: Fixtures.audience, entropy: .openSSL, sha256: .openSSL,
            creationOptions: { challenge, handle, name, exclude, _, _ in
                [
                    "challenge": .string(Base64.encodeURL(challenge.bytes)),
                    "handle": .string(Base64.encodeURL(handle)), "name": .string(name),
                    "exclude": .array(
                        exclude.map { .string(Base64.encodeURL($0.credentialID)) }),
                ]
            },
            requestOptions: { challenge, passkeys, _ in
                [
                    "challenge": .string(Base64.encodeURL(challenge.bytes)),
                    "allow": .array(
                        passkeys.map { .string(Base64.encodeURL($0.credentialID)) }),
                ]
            })
    }

    /// The use cases as the service wires them.
    var keys: PersonKeys<PostgresPersonKeyStore, CustomerProofVerifier> {
        PersonKeys(
            store: PostgresPersonKeyStore(database: database, service: service),
            verifier: verifier, asker: asker)
    }

    var acts: Acts<PostgresActStore, CustomerProofVerifier> {
        acts { $0.isAtLeastAsStrict(as: $1) }
    }

    func acts(
        strict: @escaping PolicyStrictness
    ) -> Acts<PostgresActStore, CustomerProofVerifier> {
        Acts(
            store: PostgresActStore(database: database, service: service), verifier: verifier,
            asker: asker, isAtLeastAsStrict: strict)
    }

    var policies: PostgresPolicyStore { PostgresPolicyStore(database: database) }

    // MARK: What the operator does and what the books say

    /// What `countersign migrate` does beside the migration.
    func migrating() async -> Administration {
        Administration(
            database: await test.open(as: nil, size: 1), sealer: sealer,
            keyEncryption: keyEncryption, entropy: .openSSL)
    }

    func client(_ name: String, _ role: AuthenticatedClient.Role) async throws -> ID<Client> {
        let id = ID<Client>(rawValue: UInt128(truncatingIfNeeded: name.hashValue) | 1 << 100)
        let isNew = try await administration.addClient(
            id, name: name, role: role, keyDigest: sha256(Bytes(name.utf8)),
            subjectAlternativeName: nil)
        guard isNew else { throw Unexpected("there is \(name) already") }
        return id
    }

    /// One number out of the database, as the superuser.
    func count(_ expression: String) async throws -> Int {
        let rows = try await test.sql("SELECT (\(expression))::bigint AS value")
        guard let row = rows.first else { return -1 }
        return try row["value"]
    }

    /// How many records of a kind there are.
    func evidence(_ kind: EvidenceKind) async throws -> Int {
        try await count(
            "SELECT count(*) FROM countersign.evidence WHERE kind = '\(kind.rawValue)'")
    }

    /// Every fault that an audit of all evidence finds, and how many signatures it verified.
    func audit() async throws -> (faults: [String], signatures: Int) {
        let store = PostgresEvidenceStore(
            database: database, keyEncryption: keyEncryption, service: service)
        let found = try await store.everything()
        var audit = EvidenceAudit(
            verifier: EvidenceVerifier(keyEncryption: keyEncryption), migrated: Migration.policies)
        var faults: [String] = []
        var signatures = 0
        for record in found.map(\.record) {
            do throws(EvidenceFault) {
                if try audit.check(record) == .signatureVerified { signatures += 1 }
            } catch {
                faults.append("\(record.kind): \(error.rawValue)")
            }
        }
        return (faults, signatures)
    }

    /// The opened bodies of the records of a kind, oldest first.
    func bodies(_ kind: EvidenceKind) async throws -> [JSON] {
        let store = PostgresEvidenceStore(
            database: database, keyEncryption: keyEncryption, service: service)
        return try await store.everything(of: kind).compactMap { store.opened($0).body }
    }
}

/// A key that a person holds in software, and how the service has it.
struct HeldKey: Sendable {
    let person: ID<Client>
    let recorded: RecordedPersonKey
    let authenticator: SoftwareAuthenticator

    /// An answer to a message, as a browser makes it.
    func answer(_ message: Bytes, signCount: UInt32 = 0) throws -> PasskeyAssertion {
        try authenticator.assert(
            challenge: sha256(message).bytes, origin: Fixtures.origin,
            flags: [.userPresent, .userVerified], signCount: signCount,
            userHandle: recorded.stored.userHandle)
    }
}

/// A question about an act, as its person got it.
struct AskedAct: Sendable {
    let act: ID<Act>
    let challenge: ID<ActChallenge>
    let message: Bytes

    init(_ outcome: ActQuestionOutcome) throws {
        guard case .asked(let act, let json) = outcome,
            let id = json["id"]?.text.flatMap({ ID<ActChallenge>($0) }),
            let message = json.bytes("message")
        else { throw Unexpected("\(outcome)") }
        self.act = act.id
        challenge = id
        self.message = message
    }

    func command(_ key: HeldKey, signCount: UInt32 = 0) throws -> SignActCommand {
        SignActCommand(
            person: key.person, act: act, challenge: challenge,
            assertion: try key.answer(message, signCount: signCount))
    }
}

extension PeopleWorld {
    /// What a person's browser does with the options.
    func registration(
        of person: ID<Client>, _ authenticator: SoftwareAuthenticator? = nil,
        flags: AuthenticatorFlags = [.userPresent, .userVerified]
    ) async throws -> (command: RegisterPersonKeyCommand, authenticator: SoftwareAuthenticator) {
        let outcome = try await keys.beginRegistration(
            of: person, label: DisplayText("laptop", .credentialLabel))
        guard case .begun(let json) = outcome,
            let id = json["registration_id"]?.text.flatMap({ ID<PersonKeyRegistration>($0) }),
            let challenge = json["webauthn"]?.bytes("challenge")
        else { throw Unexpected("\(outcome)") }
        let made =
            try authenticator
            ?? SoftwareAuthenticator.create(
                relyingPartyID: Fixtures.audience, entropy: .openSSL)
        let command = RegisterPersonKeyCommand(
            person: person, registration: id,
            offered: made.register(
                challenge: challenge, origin: Fixtures.origin, flags: flags, signCount: 0))
        return (command, made)
    }

    /// Registers a key, whatever its status is then.
    func register(_ person: ID<Client>) async throws -> HeldKey {
        let (command, authenticator) = try await registration(of: person)
        let outcome = try await keys.register(command)
        guard case .registered(let key) = outcome else { throw Unexpected("\(outcome)") }
        return HeldKey(person: person, recorded: key, authenticator: authenticator)
    }

    /// A new person with a key.
    func person(_ name: String, _ role: AuthenticatedClient.Role = .risk) async throws -> HeldKey {
        try await register(try await client(name, role))
    }

    /// Proposes and signs as the proposer.
    func propose(
        _ kind: ActKind, _ document: JSON, by key: HeldKey
    ) async throws -> (act: ID<Act>, outcome: ActOutcome) {
        let asked = try AskedAct(
            try await acts.propose(
                ProposeActCommand(person: key.person, kind: kind, document: document)))
        return (asked.act, try await acts.sign(asked.command(key)))
    }

    /// Asks and signs.
    func sign(_ act: ID<Act>, by key: HeldKey) async throws -> ActOutcome {
        let outcome = try await acts.challenge(act, for: key.person)
        if case .refused(let refusal) = outcome { return .refused(refusal) }
        return try await acts.sign(AskedAct(outcome).command(key))
    }

    /// A new person whose key two others have admitted.
    func admitted(
        _ name: String, _ role: AuthenticatedClient.Role = .risk, by first: HeldKey,
        _ second: HeldKey
    ) async throws -> HeldKey {
        let key = try await person(name, role)
        let (act, _) = try await propose(
            .admitKey, ["key_id": .string(key.recorded.id.text)], by: first)
        guard try await sign(act, by: second).state == .done else {
            throw Unexpected("\(name) was not admitted")
        }
        return key
    }

    /// The policy in force as a document to propose, with one member changed.
    func proposal(
        _ path: String = "payee.cooling_off_s", _ value: JSON = .integer(90_000),
        activeFrom: Instant? = nil
    ) async throws -> JSON {
        guard let active = try await policies.activePolicy() else { throw Unexpected("no policy") }
        var members: [JSON.Member] = [.init("policy", active.content.setting(path, to: value))]
        if let activeFrom { members.append(.init("active_from", .string(activeFrom.text))) }
        return .object(members)
    }
}

extension ActOutcome {
    /// Where the act stands; `nil` for a refusal.
    var state: ActState? {
        if case .recorded(let act) = self { act.state } else { nil }
    }

    var refusal: ActRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

extension ActQuestionOutcome {
    var refusal: ActRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

extension PersonKeyOutcome {
    var refusal: PersonKeyRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
