import Countersign
import Synchronization
import TestSupport
import Testing

/// A store whose commit of a recovery gives no answer.
private final class SilentStore: CustomerStore {
    let isWritten: Bool
    private let attempts = Mutex<[Instant]>([])

    init(isWritten: Bool) { self.isWritten = isWritten }

    var attempted: [Instant] { attempts.withLock { $0 } }

    func loadForRecovery(
        of customer: CustomerID
    ) async throws(StoreFailure) -> RecoveryContext? {
        guard let policy = try? Fixtures.policy() else { throw .unavailable }
        let attempted = attempted
        return RecoveryContext(
            at: Fixtures.at + Seconds(Int64(attempted.count)), policy: policy,
            customer: CustomerVersion(subject: ID(rawValue: 1), version: 1, wrappedKey: []),
            recoveredAt: isWritten ? attempted.last : nil, credentials: [], openActions: [],
            openQuestions: .none)
    }

    func recover(
        _ recovery: Recovery, on context: RecoveryContext
    ) async throws(StoreFailure) -> RecoveryResult {
        attempts.withLock { $0.append(context.at) }
        if attempted.count > 1 { return .recovered }
        throw .outcomeUnknown
    }

    func record(
        _ fault: AuthorizationFault, of command: RecoverCustomerCommand, on context: RecoveryContext
    ) async throws(StoreFailure) {}

    func loadForRemoval(
        of payee: ID<Payee>, from customer: CustomerID
    ) async throws(StoreFailure) -> PayeeRemovalContext? { nil }

    func remove(
        _ command: RemovePayeeCommand, on context: PayeeRemovalContext
    ) async throws(StoreFailure) -> Bool { false }

    func barrier() async throws(StoreFailure) {}
}

@Suite struct `Recovering when the answer of the commit is lost` {
    /// Written, it must not be tried again: the token is spent. Not written, it must.
    @Test(arguments: [true, false])
    func `tells what became of it`(isWritten: Bool) async throws {
        let store = SilentStore(isWritten: isWritten)
        let recover = RecoverCustomer(
            store: store, identityToken: nil, rule: .mayBeUnauthorized)
        let outcome = try await recover(
            RecoverCustomerCommand(
                client: ID(rawValue: 1), customerID: try CustomerID("c-1"), token: nil))
        guard case .recovered(let recovered) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(recovered.at == store.attempted.last)
        #expect(store.attempted.count == (isWritten ? 1 : 2))
    }
}
