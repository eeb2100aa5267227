import Countersign
import Foundation
import Postgres
import TestSupport

/// A store in whose way something comes, once, between the load and the commit.
struct InterferedStore: CredentialStore {
    let base: PostgresCredentialStore
    let interference: Interference

    func loadForOpening(_ customer: CustomerID) async throws(StoreFailure) -> OpeningContext {
        try await base.loadForOpening(customer)
    }

    func open(
        _ enrolment: RecordedEnrolment, openMax: Int, on context: OpeningContext
    ) async throws(StoreFailure) -> OpeningResult {
        try await base.open(enrolment, openMax: openMax, on: context)
    }

    func load(
        enrolment: ID<Enrolment>, of customer: CustomerID, voucher: VoucherReference?
    ) async throws(StoreFailure) -> EnrolmentContext? {
        try await base.load(enrolment: enrolment, of: customer, voucher: voucher)
    }

    func question(
        _ authorization: RecordedAuthorization, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool {
        try await base.question(authorization, on: context)
    }

    func enrol(
        _ credential: NewCredential, on context: EnrolmentContext
    ) async throws(StoreFailure) -> EnrolResult {
        try await interference.happen()
        let result = try await base.enrol(credential, on: context)
        if result == .lostRace { interference.lose() }
        return result
    }

    func spend(
        _ failed: FailedEnrolment, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool {
        try await interference.happen()
        let isSpent = try await base.spend(failed, on: context)
        if !isSpent { interference.lose() }
        return isSpent
    }

    func credentials(
        of customer: CustomerID
    ) async throws(StoreFailure) -> [RecordedCredential] {
        try await base.credentials(of: customer)
    }

    func loadForRevocation(
        _ credential: ID<Credential>
    ) async throws(StoreFailure) -> RevocationContext? {
        try await base.loadForRevocation(credential)
    }

    func revoke(
        _ command: RevokeCredentialCommand, on context: RevocationContext
    ) async throws(StoreFailure) -> RecordedCredential? {
        try await base.revoke(command, on: context)
    }

    func barrier() async throws(StoreFailure) { try await base.barrier() }
}

/// What comes in the way, and how many commits it cost.
final class Interference: @unchecked Sendable {
    // Sendable: the values are touched only under the lock.
    private let lock = NSLock()
    private let test: TestDatabase
    private var sql: String?
    private var lost = 0

    init(_ sql: String, in test: TestDatabase) {
        self.sql = sql
        self.test = test
    }

    var racesLost: Int { lock.withLock { lost } }

    func lose() { lock.withLock { lost += 1 } }

    func happen() async throws(StoreFailure) {
        guard let sql = lock.withLock({ sql.take() }) else { return }
        try await test.sql(sql)
    }
}
