import Countersign
import Crypto
import Synchronization
import TestSupport
import Testing

/// A store at a standing time, which takes every shadow.
private final class StandingStore: ShadowStore {
    let started = Mutex<[PolicyShadow]>([])

    func asker(
        _ person: ID<Client>
    ) async throws(StoreFailure) -> (person: Person, at: Instant)? {
        (Person(id: person, name: "anna", role: .risk), Fixtures.at)
    }

    func start(
        _ shadow: PolicyShadow, _ document: Bytes
    ) async throws(StoreFailure) -> ShadowCreation {
        started.withLock { $0.append(shadow) }
        return .started
    }

    func shadows(
        _ query: ShadowQuery
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant) {
        ([], Fixtures.at)
    }

    func report(
        of shadow: PolicyShadow, changesMax: Int
    ) async throws(StoreFailure) -> ShadowReport { throw .unavailable }

    func end(
        _ shadow: PolicyShadow, by person: Person, at: Instant
    ) async throws(StoreFailure) -> Bool { false }

    func barrier() async throws(StoreFailure) {}
}

@Suite struct `The end of a shadow` {
    private static let month: Int64 = 30 * 86_400_000

    @Test(
        arguments: [
            (-1, false), (0, false), (1, true), (month, true), (month + 1, false),
        ] as [(Int64, Bool)])
    func `is a time to come, and 30 days away at most`(
        milliseconds: Int64, isTaken: Bool
    ) async throws {
        let store = StandingStore()
        let shadows = Shadows(store: store, sha256: .openSSL, entropy: .openSSL)
        let outcome = try await shadows.start(
            StartShadowCommand(
                person: ID(rawValue: 7), label: DisplayText("month", .shadowLabel),
                document: Fixtures.policyDocument,
                until: Instant(milliseconds: Fixtures.at.milliseconds + milliseconds)))
        if case .started = outcome { #expect(isTaken) } else { #expect(!isTaken) }
        #expect(store.started.withLock { $0.count } == (isTaken ? 1 : 0))
    }
}
