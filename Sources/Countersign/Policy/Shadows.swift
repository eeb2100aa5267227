/// Begins, shows and ends shadows.
package struct Shadows: ShadowService {
    private let store: any ShadowStore
    private let sha256: Hasher256
    private let entropy: EntropySource

    /// As for ``DecideAction``.
    private static let racesMax = 100

    /// - Parameters:
    ///   - store: Keeps them.
    ///   - sha256: Makes digests of documents.
    ///   - entropy: Makes IDs.
    package init(store: any ShadowStore, sha256: Hasher256, entropy: EntropySource) {
        self.store = store
        self.sha256 = sha256
        self.entropy = entropy
    }

    package func start(
        _ command: StartShadowCommand
    ) async throws(StoreFailure) -> StartShadowOutcome {
        for _ in 0..<Self.racesMax {
            guard let (person, at) = try await store.asker(command.person) else {
                return .notFound
            }
            guard at < command.until, command.until <= at + PolicyShadow.lengthMax else {
                return .untilOutOfRange
            }
            let document = command.document.encoded
            let shadow = PolicyShadow(
                id: ID(at: at, random: entropy(10)), label: command.label.text,
                digest: sha256(document), startedBy: person, startedAt: at,
                until: command.until, doneUntil: at)
            switch try await store.start(shadow, document) {
            case .started: return .started(shadow, at: at)
            case .tooManyActive: return .tooManyActive
            case .lostRace: continue
            }
        }
        throw .unavailable
    }

    package func shadows(
        _ query: ShadowQuery
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant) {
        try await store.shadows(query)
    }

    package func report(
        of id: ID<Shadow>
    ) async throws(StoreFailure) -> (report: ShadowReport, at: Instant)? {
        let (found, at) = try await store.shadows(ShadowQuery(id))
        guard let shadow = found.first else { return nil }
        return (
            try await store.report(of: shadow, changesMax: PolicyShadow.changesMax), at
        )
    }

    package func end(
        _ id: ID<Shadow>, by person: ID<Client>
    ) async throws(StoreFailure) -> (shadow: PolicyShadow, at: Instant)? {
        for _ in 0..<Self.racesMax {
            let (found, at) = try await store.shadows(ShadowQuery(id))
            guard let shadow = found.first else { return nil }
            guard shadow.isActive(at: at) else {
                // What is answered must be durable: the row may be visible before it is.
                try await store.barrier()
                return (shadow, at)
            }
            guard let (person, at) = try await store.asker(person) else { return nil }
            do throws(StoreFailure) {
                // The next round reads what was written and answers that.
                _ = try await store.end(shadow, by: person, at: at)
            } catch .outcomeUnknown {
                do throws(StoreFailure) { try await store.barrier() } catch {
                    throw .outcomeUnknown
                }
            }
        }
        throw .unavailable
    }
}
