import Countersign

/// A queue in memory that behaves as the port says, with a clock that only tests move.
final class MemoryQueue: DeliveryQueue {
    struct Entry {
        let item: DeliveryItem
        var dueAt: Instant
        var phase = Claim.Phase.push
        var attempt = 0
        var firstAttemptAt: Instant?
        var lease: (token: ID<Lease>, until: Instant)?
        var outcome: DeliveryOutcome?
    }

    struct State {
        var now = Fixture.now
        var entries: [Entry] = []
        var claims = 0
        var tokens: UInt128 = 0
        var failures: [StoreFailure] = []
        var limits: [Int] = []
    }

    let state: Locked<State>

    init(_ items: [DeliveryItem]) {
        var state = State()
        state.entries = items.map { Entry(item: $0, dueAt: Fixture.now) }
        self.state = Locked(state)
    }

    func advance(_ seconds: Seconds) { state.withLock { $0.now = $0.now + seconds } }

    var outcomes: [DeliveryOutcome?] { state.withLock { $0.entries.map(\.outcome) } }

    func claim(limit: Int, lease: Seconds) async throws(StoreFailure) -> [Claim] {
        let result: Result<[Claim], StoreFailure> = state.withLock { state in
            state.limits.append(limit)
            if let failure = state.failures.popLast() { return .failure(failure) }
            var claims: [Claim] = []
            for index in state.entries.indices where claims.count < limit {
                let entry = state.entries[index]
                guard entry.outcome == nil, entry.dueAt <= state.now,
                    entry.lease.map({ $0.until < state.now }) ?? true
                else { continue }
                state.tokens += 1
                let token = ID<Lease>(rawValue: state.tokens)
                state.entries[index].lease = (token, state.now + lease)
                state.entries[index].attempt += 1
                state.entries[index].firstAttemptAt = entry.firstAttemptAt ?? state.now
                claims.append(
                    Claim(
                        item: entry.item, phase: entry.phase, leaseToken: token,
                        attempt: entry.attempt + 1,
                        firstAttemptAt: entry.firstAttemptAt ?? state.now, claimedAt: state.now))
            }
            return .success(claims)
        }
        return try result.get()
    }

    func settle(_ claim: Claim, _ outcome: DeliveryOutcome) async throws(StoreFailure) -> Bool {
        state.withLock { state in
            guard
                let index = state.entries.firstIndex(where: {
                    $0.lease?.token == claim.leaseToken && $0.outcome == nil
                })
            else { return false }
            state.entries[index].lease = nil
            switch outcome {
            case .retry(let after, _): state.entries[index].dueAt = state.now + after
            case .unknown(let after, _):
                state.entries[index].phase = .reconcile
                state.entries[index].dueAt = state.now + after
            default: state.entries[index].outcome = outcome
            }
            return true
        }
    }
}
