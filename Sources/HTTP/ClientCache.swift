import Countersign

/// Remembers for a second which client a key or a certificate belongs to.
///
/// A client that was removed is refused a second later at the most, on every instance. A key that
/// nobody knows is not remembered: keys can be made up without end, and would push out the others.
final class ClientCache: Sendable {
    /// What a client shows to be known by.
    enum Identification: Hashable, Sendable {
        case key(Digest)
        /// Subject alternative names of a verified certificate, in its order.
        case names([String])
    }

    private struct Entry {
        let client: AuthenticatedClient?
        let until: ContinuousClock.Instant
    }

    static let lifetime: Duration = .seconds(1)
    static let entriesMax = 1024

    private let entries = Locked<[Identification: Entry]>([:])
    private let monotonic: @Sendable () -> ContinuousClock.Instant

    init(monotonic: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.monotonic = monotonic
    }

    /// The client as remembered, or as looked up now.
    func client(
        by shown: Identification,
        _ lookUp: () async throws(StoreFailure) -> AuthenticatedClient?
    ) async throws(StoreFailure) -> AuthenticatedClient? {
        // The second begins before the look-up: what it answers may be old when it arrives.
        let now = monotonic()
        if let entry = entries.withLock({ $0[shown] }), now < entry.until { return entry.client }
        let client = try await lookUp()
        if client != nil || shown.isCertificate {
            remember(
                Entry(client: client, until: now + ClientCache.lifetime), for: shown, at: now)
        }
        return client
    }

    private func remember(
        _ entry: Entry, for shown: Identification, at now: ContinuousClock.Instant
    ) {
        entries.withLock { entries in
            if entries.count >= ClientCache.entriesMax {
                entries = entries.filter { $0.value.until > now }
            }
            // Still full of fresh ones: a bank has no such number of clients, so start afresh.
            if entries.count >= ClientCache.entriesMax { entries = [:] }
            entries[shown] = entry
        }
    }
}

extension ClientCache.Identification {
    fileprivate var isCertificate: Bool {
        switch self {
        case .key: false
        case .names: true
        }
    }
}
