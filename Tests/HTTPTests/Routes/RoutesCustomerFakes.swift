import Countersign
import HTTP
import TestSupport

/// One customer, recovered as a test says.
struct FakeCustomers: CustomerService {
    static let payee: ID<Payee> = Fixture.id(20)

    var refusal: RecoveryRefusal?
    var failure: StoreFailure?

    let removals = Recorder<RemovePayeeCommand>()
    let recoveries = Recorder<RecoverCustomerCommand>()

    func removePayee(_ command: RemovePayeeCommand) async throws(StoreFailure) -> Bool {
        removals.record(command)
        if let failure { throw failure }
        return command.payee == Self.payee
    }

    func recover(
        _ command: RecoverCustomerCommand
    ) async throws(StoreFailure) -> RecoveryOutcome {
        recoveries.record(command)
        if let failure { throw failure }
        if let refusal { return .refused(refusal) }
        guard let policy = try? Fixtures.policy() else { throw .unavailable }
        let context = RecoveryContext(
            at: Fixture.now, policy: policy,
            customer: CustomerVersion(subject: Fixture.id(21), version: 1, wrappedKey: []),
            recoveredAt: nil,
            credentials: [.init(id: Fixture.credential.id, head: .empty)],
            openActions: [.init(id: Fixture.action.id, head: .empty)], openQuestions: .none)
        let recovery = Recovery(
            command: command, token: nil, heldApprovals: .cancel, on: context)
        return .recovered(RecoveredCustomer(recovery, on: context))
    }
}

/// A feed of three events.
struct FakeEvents: EventFeed {
    func events(
        after place: EventPlace, limit: Int
    ) async throws(StoreFailure) -> [PlacedEvent]? {
        guard place.number <= 3 else { return nil }
        return (1...3).filter { $0 > place.number }.prefix(limit).map { number in
            PlacedEvent(
                place: EventPlace(number: number), id: Fixture.id(UInt128(30 + number)),
                kind: "hold.placed", at: Fixture.now, customerID: Fixture.customerID,
                actionID: Fixture.action.id, credentialID: nil, credentialLabel: nil, payeeID: nil,
                document: ["rule": "payee_cooling_off"])
        }
    }
}

/// Core banking's side, as a test says.
struct FakeExecutions: ExecutionService {
    static let lease: ID<Lease> = Fixture.id(40)

    var mayLease = true
    var outcome = ReceiptOutcome.recorded(Self.recorded)

    let leases = Recorder<(limit: Int, lease: Seconds)>()
    let receipts = Recorder<SubmittedReceipt>()

    static let recorded = RecordedReceipt(
        action: Fixture.action.id, receipt: Self.executed("B-1"), at: Fixture.now)

    static func executed(_ reference: String) -> CoreReceipt {
        do throws(InvalidValue) { return .executed(reference: try ReceiptText(reference)) } catch {
            preconditionFailure("a fixture is not valid: \(error.code)")
        }
    }

    func lease(limit: Int, for lease: Seconds) async throws(StoreFailure) -> LeasedWork? {
        leases.record((limit, lease))
        guard mayLease else { return nil }
        func leased(_ isQuestion: Bool) -> LeasedDocument {
            LeasedDocument(
                lease: Self.lease, attempt: 1, isQuestion: isQuestion,
                document: ["action_id": .string(Fixture.action.id.text), "kind": "transfer"])
        }
        return LeasedWork(
            expiresAt: Fixture.now + lease, credentials: [leased(false)],
            orders: [leased(false), leased(true)])
    }

    func take(_ receipt: SubmittedReceipt) async throws(StoreFailure) -> ReceiptOutcome {
        receipts.record(receipt)
        return outcome
    }

    func note(
        credential: ID<Credential>, lease: ID<Lease>
    ) async throws(StoreFailure) -> Bool { lease == Self.lease }
}
