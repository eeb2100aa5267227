import Countersign
import TestSupport

/// A customer's device key, and everything that is read when a request names it.
struct RequestWorld {
    /// Takes for a signature what is the message's digest.
    struct Verifier: AssertionVerifier {
        func verify(
            _ assertion: UnverifiedAssertion, by credential: StoredCredential, over message: Bytes
        ) throws(VerificationFailure) -> VerifiedAssertion {
            let id = RequestWorld.credential
            if assertion == .deviceKey(credential: id, signature: RequestWorld.damaged) {
                throw .storedKeyInvalid
            }
            let good = RequestWorld.signature(over: message)
            guard assertion == .deviceKey(credential: id, signature: good) else {
                throw .signatureInvalid
            }
            // What a proof tells besides being good is not looked at.
            return .passkey(signCount: 0, backupEligible: false, backupState: false)
        }
    }

    static let call: ID<DeviceRequest> = Fixtures.id(90)
    /// The signature that the verifier cannot check.
    static let damaged: Bytes = [0xDA]
    /// The device key of the phone of that number.
    private static let credential: ID<Credential> = Fixtures.id(1000)

    let customer: CustomerID
    let draft = RequestDraft(RequestWorld.credential)
    private let phone: TestPhone

    init() throws {
        customer = try CustomerID("c-1001")
        phone = try TestPhone()
    }

    var credential: ID<Credential> { RequestWorld.credential }

    static func signature(over message: Bytes) -> Bytes { Fixtures.sha256(message).bytes }

    func signed(_ draft: RequestDraft) -> DeviceRequest {
        draft.signed { RequestWorld.signature(over: $0) }
    }

    func earlier(
        by call: ID<DeviceRequest> = Fixtures.id(91), isRecorded: Bool = false
    ) -> AcceptedRequest {
        AcceptedRequest(id: call, at: Fixtures.at - Seconds(1), replayIsRecorded: isRecorded)
    }

    func claimed(
        kind: CredentialKind = .deviceKey, status: RecordedCredential.Status = .active,
        choice: RequestModeChoice = .inherited, earlier: AcceptedRequest? = nil, replays: Int = 0
    ) -> ClaimedCredential {
        ClaimedCredential(
            registered: phone.registered(kind, isActive: status == .active),
            customerID: customer, status: status, choice: choice, earlier: earlier,
            replaysRecorded: replays,
            customer: CustomerVersion(subject: Fixtures.id(10), version: 1, wrappedKey: []),
            head: ChainHead(length: 1, leafHash: nil))
    }

    func context(at: Instant = Fixtures.at) -> DeviceRequestContext {
        DeviceRequestContext(at: at, claimed: claimed(), customerEnforces: false)
    }

    func context(
        claimed: ClaimedCredential?, customerEnforces: Bool = false
    ) -> DeviceRequestContext {
        DeviceRequestContext(at: Fixtures.at, claimed: claimed, customerEnforces: customerEnforces)
    }

    func decide(
        _ request: DeviceRequest, _ context: DeviceRequestContext
    ) -> DeviceRequestRuling {
        DeviceRequestJudge(verifier: Verifier()).decide(request, call: Self.call, context)
    }
}
