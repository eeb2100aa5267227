import Countersign
import Foundation
import HTTP

/// Collects what a fake was asked.
final class Recorder<Value: Sendable>: @unchecked Sendable {
    // Sendable: the values are reached only under the lock.
    private let lock = NSLock()
    private var recorded: [Value] = []

    var values: [Value] { lock.withLock { recorded } }

    func record(_ value: Value) { lock.withLock { recorded.append(value) } }
}

/// Actions that answer what a test says, and remember what they were asked.
struct FakeActions: ActionService {
    var creation = CreationOutcome.created(answer: Fixture.creationAnswer, replayed: false)
    var challenge = ChallengeOutcome.issued(Fixture.challenge)
    var decision = DecisionOutcome.decided(Fixture.decision, replayed: false)
    var cancellation = CancelOutcome.cancelled(Fixture.cancelled)
    var found: [RecordedAction] = [Fixture.action]
    var payees: [PayeeStanding] = []
    var failure: StoreFailure?

    let creations = Recorder<CreateActionCommand>()
    let decisions = Recorder<DecideCommand>()
    let reasons = Recorder<String>()
    let queries = Recorder<ActionQuery>()
    let customers = Recorder<CustomerID>()
    let segments = Recorder<String>()

    private func fail() throws(StoreFailure) {
        if let failure { throw failure }
    }

    func create(_ command: CreateActionCommand) async throws(StoreFailure) -> CreationOutcome {
        creations.record(command)
        try fail()
        return creation
    }

    func issueChallenge(for action: ID<Action>) async throws(StoreFailure) -> ChallengeOutcome {
        try fail()
        return challenge
    }

    func decide(_ command: DecideCommand) async throws(StoreFailure) -> DecisionOutcome {
        decisions.record(command)
        try fail()
        return decision
    }

    func cancel(
        _ action: ID<Action>, reason: String
    ) async throws(StoreFailure) -> CancelOutcome {
        reasons.record(reason)
        try fail()
        return cancellation
    }

    func action(_ id: ID<Action>) async throws(StoreFailure) -> RecordedAction? {
        try fail()
        return found.first { $0.id == id }
    }

    func actions(_ query: ActionQuery) async throws(StoreFailure) -> [RecordedAction] {
        queries.record(query)
        try fail()
        return Array(found.prefix(query.limit))
    }

    func payees(
        of customer: CustomerID, segment: String
    ) async throws(StoreFailure) -> [PayeeStanding] {
        customers.record(customer)
        segments.record(segment)
        try fail()
        return payees
    }
}

/// Credentials that answer what a test says.
struct FakeCredentials: CredentialService {
    var enrolment = EnrolmentOutcome.begun(Fixture.offer)
    var authorization = AuthorizationOutcome.challenged(Fixture.authorizationChallenge)
    var finish = FinishOutcome.enrolled(Fixture.credential)
    var failure: StoreFailure?

    let beginnings = Recorder<BeginEnrolmentCommand>()
    let digests = Recorder<Digest>()
    let finishes = Recorder<FinishEnrolmentCommand>()
    let revocations = Recorder<(reason: String, client: ID<Client>)>()

    private func fail() throws(StoreFailure) {
        if let failure { throw failure }
    }

    func beginEnrolment(
        _ command: BeginEnrolmentCommand
    ) async throws(StoreFailure) -> EnrolmentOutcome {
        beginnings.record(command)
        try fail()
        return enrolment
    }

    func beginAuthorization(
        customer: CustomerID, enrolment: ID<Enrolment>, keyDigest: Digest
    ) async throws(StoreFailure) -> AuthorizationOutcome {
        digests.record(keyDigest)
        try fail()
        return authorization
    }

    func finishEnrolment(
        _ command: FinishEnrolmentCommand
    ) async throws(StoreFailure) -> FinishOutcome {
        finishes.record(command)
        try fail()
        return finish
    }

    func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential] {
        try fail()
        return [Fixture.credential]
    }

    func revoke(
        _ command: RevokeCredentialCommand
    ) async throws(StoreFailure) -> RecordedCredential? {
        revocations.record((command.reason.text, command.client))
        try fail()
        return command.credential == Fixture.credential.id ? Fixture.credential : nil
    }
}

/// Evidence of three records.
struct FakeEvidence: EvidenceService {
    let queries = Recorder<EvidenceQuery>()
    let readers = Recorder<ID<Client>>()

    func records(
        _ query: EvidenceQuery, reader: ID<Client>
    ) async throws(StoreFailure) -> EvidencePage {
        queries.record(query)
        readers.record(reader)
        return EvidencePage(
            records: [Fixture.evidence],
            next: query.after == nil ? Fixture.evidence.id : nil, completeUntil: Fixture.now)
    }

    func record(
        _ id: ID<Evidence>, reader: ID<Client>
    ) async throws(StoreFailure) -> EvidenceDetail? {
        readers.record(reader)
        guard id == Fixture.evidence.id else { return nil }
        return EvidenceDetail(
            record: Fixture.evidence, message: [1, 2, 3], assertion: Fixture.recordedAssertion)
    }

    func bundle(
        of id: ID<Evidence>, reader: ID<Client>
    ) async throws(StoreFailure) -> BundleOutcome {
        readers.record(reader)
        if id == Fixture.detached { return .detached(kind: "credential.enrolled") }
        return id == Fixture.evidence.id ? .bundle(Bytes("{\"v\":\"bundle\"}".utf8)) : .notFound
    }

    func export(
        _ query: EvidenceQuery, format: String, reader: ID<Client>
    ) async throws(StoreFailure) -> any EvidenceExport {
        queries.record(query)
        readers.record(reader)
        return FakeExport(pages: exported, failsAtEnd: failsAtEnd)
    }

    /// What an export gives, page by page.
    var exported = [[Fixture.evidence], [], [Fixture.evidence, Fixture.evidence]]
    var failsAtEnd = false
}

/// An export of a few pages.
actor FakeExport: EvidenceExport {
    nonisolated let completeUntil = Fixture.now
    private var pages: ArraySlice<[EvidenceRecord]>
    private let failsAtEnd: Bool

    init(pages: [[EvidenceRecord]], failsAtEnd: Bool) {
        self.pages = pages[...]
        self.failsAtEnd = failsAtEnd
    }

    func next() async throws(StoreFailure) -> [EvidenceRecord]? {
        if let page = pages.popFirst() { return page }
        if failsAtEnd { throw .unavailable }
        return nil
    }
}

/// A customer who can be erased, or not as a test says.
struct FakePrivacy: PrivacyService {
    var refusal: ErasureRefusal?
    var hold: LegalHoldOutcome? = .changed(Fixture.id(77))

    let commands = Recorder<LegalHoldCommand>()
    let erased = Recorder<CustomerID>()

    func erase(
        _ customer: CustomerID, by client: ID<Client>
    ) async throws(StoreFailure) -> ErasureOutcome {
        erased.record(customer)
        if let refusal { return .refused(refusal) }
        return .erased(
            ErasedCustomer(
                subject: Fixture.id(71), evidence: Fixture.id(72), at: Fixture.now, records: 7))
    }

    func setLegalHold(
        _ command: LegalHoldCommand
    ) async throws(StoreFailure) -> LegalHoldOutcome? {
        commands.record(command)
        return hold
    }

    func liftLegalHold(
        _ command: LegalHoldCommand
    ) async throws(StoreFailure) -> LegalHoldOutcome? {
        commands.record(command)
        return hold
    }
}

/// Signed requests, judged as a test says.
struct FakeDeviceRequests: DeviceRequestService {
    var answer = Fixture.deviceRequestAnswer
    var failure: StoreFailure?

    let requests = Recorder<DeviceRequest>()
    let commands = Recorder<SetRequestSigningCommand>()

    func verify(_ request: DeviceRequest) async throws(StoreFailure) -> DeviceRequestAnswer {
        requests.record(request)
        if let failure { throw failure }
        return answer
    }

    func requestSigning(
        of credential: ID<Credential>
    ) async throws(StoreFailure) -> RequestSigning? {
        guard credential == Fixture.credential.id else { return nil }
        return RequestSigning(credential: credential, choice: .inherited, effective: .enforce)
    }

    func setRequestSigning(
        _ command: SetRequestSigningCommand
    ) async throws(StoreFailure) -> RequestSigning? {
        commands.record(command)
        guard command.credential == Fixture.credential.id else { return nil }
        return RequestSigning(
            credential: command.credential, choice: command.choice, effective: .logOnly)
    }
}

/// Clients by their keys and certificates, of which some can go while the test runs.
final class FakeDirectory: ClientDirectory, @unchecked Sendable {
    // Sendable: the dictionaries are reached only under the lock.
    private let lock = NSLock()
    private var keys: [Digest: AuthenticatedClient] = [:]
    private var names: [String: AuthenticatedClient] = [:]
    private var failure: StoreFailure?
    private var lookUpCount = 0

    init() {
        for role in AuthenticatedClient.Role.allCases {
            keys[Fixture.sha256(Bytes(Fixture.key(role).utf8))] = Fixture.client(role)
        }
    }

    var lookUps: Int { lock.withLock { lookUpCount } }

    func bind(_ name: String, to client: AuthenticatedClient) {
        lock.withLock { names[name] = client }
    }

    func add(_ key: String, of client: AuthenticatedClient) {
        lock.withLock { keys[Fixture.sha256(Bytes(key.utf8))] = client }
    }

    func remove(_ key: String) {
        lock.withLock { keys[Fixture.sha256(Bytes(key.utf8))] = nil }
    }

    func fail(with failure: StoreFailure) { lock.withLock { self.failure = failure } }

    func client(keyDigest: Digest) async throws(StoreFailure) -> AuthenticatedClient? {
        try find { keys[keyDigest] }
    }

    func client(
        subjectAlternativeNames: [String]
    ) async throws(StoreFailure) -> AuthenticatedClient? {
        try find { subjectAlternativeNames.lazy.compactMap { self.names[$0] }.first }
    }

    private func find(
        _ client: () -> AuthenticatedClient?
    ) throws(StoreFailure) -> AuthenticatedClient? {
        let (found, failure) = lock.withLock {
            lookUpCount += 1
            return (client(), self.failure)
        }
        if let failure { throw failure }
        return found
    }
}

/// Decisions of the past, in pages of the size that is asked for.
struct FakePolicyHistory: PolicyHistory {
    var verdicts: [RecordedVerdict] = []

    let periods = Recorder<Range<Instant>>()

    func decisions(
        in period: Range<Instant>, after position: PolicyHistoryPosition?, limit: Int
    ) async throws(StoreFailure) -> PolicyHistoryPage {
        periods.record(period)
        return PolicyHistoryPage(verdicts: verdicts, next: nil)
    }
}
