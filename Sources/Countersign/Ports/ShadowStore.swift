/// What the API offers a risk team about shadows.
package protocol ShadowService: Sendable {
    /// Begins one.
    ///
    /// - Throws: ``StoreFailure``; when the outcome is unknown, ``shadows()`` tells it.
    func start(_ command: StartShadowCommand) async throws(StoreFailure) -> StartShadowOutcome

    /// All of them, newest first, and the time at which they were read.
    func shadows() async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant)

    /// What one has found so far; `nil` when there is none of that ID.
    func report(
        of id: ID<Shadow>
    ) async throws(StoreFailure) -> (report: ShadowReport, at: Instant)?

    /// Ends one. One that has ended stays as it is.
    ///
    /// - Parameters:
    ///   - id: The shadow.
    ///   - person: Who ends it.
    /// - Returns: It as it then is; `nil` when there is none of that ID.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func end(
        _ id: ID<Shadow>, by person: ID<Client>
    ) async throws(StoreFailure) -> (shadow: PolicyShadow, at: Instant)?
}

/// What shadows need from the database.
package protocol ShadowStore: Sendable {
    /// The person who asks, and the time; `nil` for nobody of the role `risk`.
    func asker(
        _ person: ID<Client>
    ) async throws(StoreFailure) -> (person: Person, at: Instant)?

    /// Writes a new one with its evidence.
    func start(_ shadow: PolicyShadow) async throws(StoreFailure) -> ShadowStart

    /// All of them, newest first, or the one of that ID.
    func shadows(
        _ id: ID<Shadow>?
    ) async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant)

    /// What a shadow has found, with the first changed decisions.
    func report(
        of shadow: PolicyShadow, changesMax: Int
    ) async throws(StoreFailure) -> ShadowReport

    /// Ends one with its evidence.
    ///
    /// - Returns: `false` when it has ended meanwhile, or the person may not act any more.
    /// - Throws: ``StoreFailure``.
    func end(
        _ shadow: PolicyShadow, by person: Person, at: Instant
    ) async throws(StoreFailure) -> Bool

    /// See ``DecisionStore/barrier()``.
    func barrier() async throws(StoreFailure)
}

/// What came of writing a shadow.
package enum ShadowStart: Sendable {
    case started
    case tooManyActive
    case lostRace
}

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
                document: document, digest: sha256(document), startedBy: person, startedAt: at,
                until: command.until, doneUntil: at)
            switch try await store.start(shadow) {
            case .started: return .started(shadow, at: at)
            case .tooManyActive: return .tooManyActive
            case .lostRace: continue
            }
        }
        throw .unavailable
    }

    package func shadows() async throws(StoreFailure) -> (shadows: [PolicyShadow], at: Instant) {
        try await store.shadows(nil)
    }

    package func report(
        of id: ID<Shadow>
    ) async throws(StoreFailure) -> (report: ShadowReport, at: Instant)? {
        let (found, at) = try await store.shadows(id)
        guard let shadow = found.first else { return nil }
        return (
            try await store.report(of: shadow, changesMax: PolicyShadow.changesMax), at
        )
    }

    package func end(
        _ id: ID<Shadow>, by person: ID<Client>
    ) async throws(StoreFailure) -> (shadow: PolicyShadow, at: Instant)? {
        for _ in 0..<Self.racesMax {
            let (found, at) = try await store.shadows(id)
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
