import Countersign
import Crypto
import Foundation
import TestSupport

/// A store that answers from a script and keeps what it was given.
final class ScriptedCredentialStore: CredentialStore, @unchecked Sendable {
    // Sendable: the script is touched only under the lock.
    private let lock = NSLock()
    private var script: Script

    struct Script {
        var opening: OpeningContext?
        var context: EnrolmentContext?
        var revocation: RevocationContext?
        /// Answers in their order; the last one stays.
        var openings: [OpeningResult] = [.opened]
        var questions: [Bool] = [true]
        var enrolments: [Result<EnrolResult, StoreFailure>] = [.success(.enrolled)]
        var spendings: [Result<Bool, StoreFailure>] = [.success(true)]
        var revocations: [Result<Bool, StoreFailure>] = [.success(true)]
        var barriers: [Result<Void, StoreFailure>] = [.success(())]
        /// Whether an enrolment whose answer was lost was written after all.
        var isWritten = false

        var loads = 0
        var barrierCount = 0
        var opened: [RecordedEnrolment] = []
        var enrolled: [NewCredential] = []
        var spent: [FailedEnrolment] = []
    }

    init(_ script: Script) { self.script = script }

    var now: Script { lock.withLock { script } }

    private func change<Result>(_ body: (inout Script) -> Result) -> Result {
        lock.withLock { body(&script) }
    }

    private func next<Answer>(_ path: WritableKeyPath<Script, [Answer]>) -> Answer {
        change { script in
            let answers = script[keyPath: path]
            if answers.count > 1 { script[keyPath: path].removeFirst() }
            return answers[0]
        }
    }

    func loadForOpening(_ customer: CustomerID) async throws(StoreFailure) -> OpeningContext {
        guard let context = now.opening else { throw .unavailable }
        return context
    }

    func open(
        _ enrolment: RecordedEnrolment, openMax: Int, on context: OpeningContext
    ) async throws(StoreFailure) -> OpeningResult {
        change { $0.opened.append(enrolment) }
        return next(\.openings)
    }

    func load(
        enrolment: ID<Enrolment>, of customer: CustomerID, voucher: VoucherReference?
    ) async throws(StoreFailure) -> EnrolmentContext? {
        change { script in
            script.loads += 1
            return script.context
        }
    }

    func question(
        _ authorization: RecordedAuthorization, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool { next(\.questions) }

    func enrol(
        _ credential: NewCredential, on context: EnrolmentContext
    ) async throws(StoreFailure) -> EnrolResult {
        change { $0.enrolled.append(credential) }
        return try next(\.enrolments).get()
    }

    func spend(
        _ failed: FailedEnrolment, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool {
        change { $0.spent.append(failed) }
        return try next(\.spendings).get()
    }

    func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential] {
        now.isWritten ? now.enrolled.map(\.recorded) : []
    }

    func loadForRevocation(
        _ credential: ID<Credential>
    ) async throws(StoreFailure) -> RevocationContext? {
        change { script in
            script.loads += 1
            return script.revocation
        }
    }

    func revoke(
        _ command: RevokeCredentialCommand, on context: RevocationContext
    ) async throws(StoreFailure) -> RecordedCredential? {
        try next(\.revocations).get() ? context.credential.revoked(at: context.at) : nil
    }

    func barrier() async throws(StoreFailure) {
        change { $0.barrierCount += 1 }
        try next(\.barriers).get()
    }
}

/// Believes every proof whose signature is ``good``.
struct TrustingVerifier: AssertionVerifier, RegistrationVerifier {
    static let good: Bytes = [1]
    /// The signature that it cannot check.
    static let damaged: Bytes = [0xDA]
    /// What it makes of every key's attestation.
    var attestation = Attestation.absent
    /// How often it was brought up to date.
    let prepared: Locked<Int>

    func prepare(for offered: OfferedCredential) async { prepared.withLock { $0 += 1 } }

    func verify(
        _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
    ) throws(VerificationFailure) -> VerifiedAssertion {
        if case .deviceKey(_, Self.damaged, _) = assertion { throw .storedKeyInvalid }
        guard case .deviceKey(_, Self.good, _) = assertion else { throw .signatureInvalid }
        return .deviceKey()
    }

    func verify(
        _ offered: OfferedCredential, over message: Bytes, at: Instant
    ) throws(RegistrationFailure) -> VerifiedRegistration {
        guard case .deviceKey(let offered) = offered else {
            throw .attestation(AttestationFailure("fmt_unsupported"))
        }
        guard let key = Hex.decode(offered.publicKey) else {
            throw .keyForm(InvalidValue("public_key_malformed", "It is no key."))
        }
        guard offered.signature == Self.good else { throw .proof(.signatureInvalid) }
        return VerifiedRegistration(
            publicKey: key, attestation: attestation, signatureFormat: offered.signatureFormat,
            passkey: nil)
    }
}

/// A finish that succeeds, of which a test changes one thing.
struct FinishCase {
    static let key: Bytes = [4, 5, 6]
    static let enrolmentID: ID<Enrolment> = Fixtures.id(1)
    static let challengeID: ID<Challenge> = Fixtures.id(2)
    static let voucherID: ID<Credential> = Fixtures.id(3)
    static let client: ID<Client> = Fixtures.id(4)
    static let open = OpenQuestions(
        challenges: [Fixtures.id(7)], authorizations: [challengeID])

    var at = Fixtures.at
    var kind = CredentialKind.deviceKey
    var isSpent = false
    var lockedUntil: Instant?
    var failures = 0
    var messageCustomer = "c-1001"
    var possession = EnrolmentContext.Possession.active
    var authorizationIsSpent = false
    var authorizationIsThere = true
    var askedKey = key
    var voucherIsActive = true
    var publicKey = Hex.encode(key)
    var signature = TrustingVerifier.good
    var answer = TrustingVerifier.good
    var authorization: EnrolmentAuthorization?
    var claims: JSON?
    var identityIsConfigured = true
    var firstEnrolment = FirstEnrolmentRule.needsAuthorization
    var expiresAt = Fixtures.at + Seconds(300)
    var policy: Policy?
    var attestation = Attestation.absent
    var voucherFailures = 0
    var voucherProfiles: [AttestationProfile] = []
    /// How often the verifier was brought up to date.
    let prepared = Locked(0)

    func context() throws -> EnrolmentContext {
        let customer = try CustomerID("c-1001")
        let message = EnrolmentMessage(
            audience: Fixtures.audience, customerID: try CustomerID(messageCustomer),
            enrolmentID: Self.enrolmentID, expiresAt: expiresAt, nonce: Fixtures.bytes32(1)
        ).bytes
        let question = AuthorizationMessage(
            audience: Fixtures.audience, challengeID: Self.challengeID, customerID: customer,
            enrolmentID: Self.enrolmentID, expiresAt: expiresAt,
            keyDigest: Hasher256.openSSL(askedKey), nonce: Fixtures.bytes32(2))
        return EnrolmentContext(
            at: at, policy: try policy ?? Fixtures.policy(),
            standing: CustomerStanding(failures: failures, lockedUntil: lockedUntil),
            customer: CustomerVersion(subject: Fixtures.id(5), version: 1, wrappedKey: []),
            enrolment: RecordedEnrolment(
                id: Self.enrolmentID, customerID: customer, kind: kind, label: "Phone",
                userHandle: nil, message: message, createdAt: Fixtures.at, expiresAt: expiresAt,
                isSpent: isSpent),
            authorization: authorizationIsThere
                ? RecordedAuthorization(
                    id: Self.challengeID, message: question.bytes, expiresAt: expiresAt,
                    isSpent: authorizationIsSpent, keyDigest: question.keyDigest) : nil,
            voucher: RegisteredCredential(
                id: Self.voucherID, kind: .deviceKey, isActive: voucherIsActive,
                stored: .deviceKey(StoredDeviceKey(id: Self.voucherID, key: [])), publicKey: [],
                createdAt: Fixtures.at, profiles: voucherProfiles, failures: voucherFailures,
                openQuestions: Self.open,
                evidenceID: Fixtures.id(6)),
            voucherHead: ChainHead(length: 1, leafHash: nil), possession: possession, passkeys: [])
    }

    func command() throws -> FinishEnrolmentCommand {
        FinishEnrolmentCommand(
            client: Self.client, customerID: try CustomerID("c-1001"),
            enrolmentID: Self.enrolmentID,
            offered: .deviceKey(
                OfferedDeviceKey(
                    publicKey: publicKey, signature: signature, platform: nil, attestation: nil)),
            authorization: authorization
                ?? .assertion(
                    challenge: Self.challengeID,
                    .deviceKey(credential: Self.voucherID, signature: answer)))
    }

    func store(_ change: (inout ScriptedCredentialStore.Script) -> Void = { _ in }) throws
        -> ScriptedCredentialStore
    {
        var script = ScriptedCredentialStore.Script()
        script.context = try context()
        change(&script)
        return ScriptedCredentialStore(script)
    }

    func service(
        _ store: ScriptedCredentialStore
    ) -> EnrolCredential<ScriptedCredentialStore, TrustingVerifier> {
        let claims = claims
        let reader: IdentityTokenReader = { _ in claims }
        return EnrolCredential(
            store: store,
            verifier: TrustingVerifier(attestation: attestation, prepared: prepared),
            issuer: .fixture, sha256: .openSSL,
            identityToken: identityIsConfigured ? reader : nil,
            firstEnrolment: firstEnrolment)
    }

    func finish(_ store: ScriptedCredentialStore) async throws -> FinishOutcome {
        try await service(store).finishEnrolment(try command())
    }
}

extension EnrolmentIssuer {
    /// Shows in its options what it was given.
    static let fixture = EnrolmentIssuer(
        audience: Fixtures.audience, entropy: .openSSL, sha256: .openSSL,
        creationOptions: { challenge, handle, label, exclude, lifetime, wish in
            [
                "challenge": .string(challenge.hex), "user": .string(Hex.encode(handle)),
                "label": .string(label),
                "exclude": .array(exclude.map { .string(Hex.encode($0.credentialID)) }),
                "lifetime": .integer(lifetime.count),
                "attestation": .bool(wish == .needed),
            ]
        },
        requestOptions: { challenge, passkeys, _ in
            [
                "challenge": .string(challenge.hex),
                "allow": .array(passkeys.map { .string(Hex.encode($0.credentialID)) }),
            ]
        })
}

extension FinishOutcome {
    var credential: RecordedCredential? {
        if case .enrolled(let credential) = self { credential } else { nil }
    }

    var refusal: EnrolmentRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
