package import Countersign

/// All that the store in memory holds.
package struct MemoryWorld: Sendable {
    /// An action with what is stored beside it.
    package struct StoredAction: Sendable {
        package var action: RecordedAction
        package var failures = 0
        /// Whether the columns are values at all.
        package var isIntact = true
        /// The length of its chain of evidence, which every write compares.
        package var sequence = 2
    }

    /// A challenge and the action that it is for.
    package struct StoredChallenge: Sendable {
        package let action: ID<Action>
        package var challenge: Challenge
    }

    /// The database's time.
    package var at = Fixtures.at
    package var policy: Policy
    package let subject: ID<Subject> = Fixtures.id(10)
    package var failures = 0
    package var lockedUntil: Instant?
    package var version: Int64 = 1
    package var contactHoldUntil: Instant?
    package var actions: [ID<Action>: StoredAction] = [:]
    package var challenges: [ID<Challenge>: StoredChallenge] = [:]
    package var credentials: [RegisteredCredential] = []
    package var payees: [Account: RecordedPayee] = [:]
    /// Sums by `dimension window`.
    package var counters: [String: Int64] = [:]
    package var decisions: [ID<Action>: RecordedDecision] = [:]
    package var answers: [String: AnsweredCommand] = [:]
    package var externalIDs: Set<String> = []

    /// What goes wrong with the next writes, first to last.
    package var faults: [MemoryFault] = []
    package var barrierFails = false
    /// Another creation's answer, stored just before the next creation is.
    package var quickerAnswer: AnsweredCommand?

    // What was asked of the store.
    package var rulings: [Ruling] = []
    package var loads = 0
    package var barriers = 0

    package init(policy: Policy) { self.policy = policy }

    mutating func nextFault() -> MemoryFault? { faults.isEmpty ? nil : faults.removeFirst() }

    func used(_ dimension: String, _ window: String) -> Int64 {
        counters["\(dimension) \(window)"] ?? 0
    }

    func context(
        _ id: ID<Action>, _ challengeID: ID<Challenge>?, _ reference: CredentialReference?
    ) -> DecisionContext? {
        guard let stored = actions[id] else { return nil }
        let challenge = challengeID.flatMap { challenges[$0] }
        let credential = credentials.first { credential in
            switch (reference, credential.stored) {
            case (.id(let id), _): credential.id == id
            case (.passkey(let rawID), .passkey(let passkey)): passkey.credentialID == rawID
            case (.passkey, .deviceKey), (nil, _): false
            }
        }
        return DecisionContext(
            at: at, action: stored.action, actionIsIntact: stored.isIntact,
            actionFailures: stored.failures,
            challenge: challenge?.action == id ? challenge?.challenge : nil,
            customer: CustomerStanding(failures: failures, lockedUntil: lockedUntil),
            credential: credential, decision: decisions[id], policy: policy,
            state: credential.map { state(stored.action.content, $0) },
            versions: RecordVersions(
                subject: subject, customer: version,
                action: ChainHead(length: stored.sequence, leafHash: nil),
                credential: credential.map { _ in ChainHead(length: 1, leafHash: nil) },
                wrappedKey: []))
    }

    func state(
        _ content: ActionContent, _ credential: RegisteredCredential?
    ) -> RecordedState {
        let payee = content.payeeAccount.flatMap { payees[$0] }
        var today: Int64 = 0
        var whileNew: Int64 = 0
        if case .transfer(let transfer) = content {
            let currency = transfer.amount.currency
            today = used(Reservation.day(currency), Fixtures.bankDay)
            whileNew =
                payee.map { used(Reservation.whileNew($0.id, currency), Reservation.lifetime) } ?? 0
        }
        return RecordedState(
            at: at, bankDay: Fixtures.bankDay, contactHoldUntil: contactHoldUntil,
            recoveredAt: nil,
            credential: credential.map {
                RecordedState.Credential(traits: $0.traits, createdAt: $0.createdAt)
            },
            payee: payee, risk: .unsaid,
            used: RecordedState.Used(today: today, whileNew: whileNew), ownLimits: .init())
    }
}
