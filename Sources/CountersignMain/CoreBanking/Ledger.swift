import Countersign
import Delivery
import Dispatch

/// Core banking's own books: the keys that were announced and one decision per action.
///
/// What is in memory was read from or written to the journal first. Sendable, unchecked: everything but the
/// queue is touched on the queue only.
final class Ledger: @unchecked Sendable {
    /// What came of an announcement.
    enum Registration: Sendable {
        case recorded
        /// The same credential with another key or customer: the first one stays.
        case contradicts
    }

    /// What came of an order.
    enum Entry: Sendable {
        /// Decided now, or the same order decided before.
        case decided(Booking)
        /// This action was decided for another message.
        case otherMessage
    }

    /// What came of a batch of events.
    enum EventsEntry: Sendable {
        /// They are in the books, now or from before.
        case recorded
        /// Events between these and the last recorded one are missing.
        case gap
    }

    private let queue = DispatchQueue(label: "core-banking.ledger")
    private let journal: Journal
    private var keys: [ID<Credential>: CustomerKey] = [:]
    private var bookings: [ID<Action>: Booking] = [:]
    private var executedCount = 0
    private var lastEvent = EventPlace.start

    /// Reads the journal.
    init(path: String) throws {
        var keys: [ID<Credential>: CustomerKey] = [:]
        var bookings: [ID<Action>: Booking] = [:]
        var lastEvent = EventPlace.start
        journal = try Journal(path: path) { line in
            if let key = line["key"].flatMap(CustomerKey.init) {
                return keys.updateValue(key, forKey: key.credentialID) == nil
            }
            if let booking = line["booking"].flatMap(Booking.init) {
                return bookings.updateValue(booking, forKey: booking.actionID) == nil
            }
            guard let events = line["events"].flatMap({ ReceivedEvents(list: $0) }),
                events.first.number == lastEvent.number + 1
            else { return false }
            lastEvent = events.last
            return true
        }
        self.lastEvent = lastEvent
        self.keys = keys
        self.bookings = bookings
        executedCount = bookings.values.filter { $0.isExecuted }.count
    }

    /// Closes the journal; every later booking fails.
    func close() async throws {
        try await onQueue { [self] in try journal.close() }
    }

    /// Records a key, once.
    func register(_ key: CustomerKey) async throws -> Registration {
        try await onQueue { [self] in
            if let known = keys[key.credentialID] {
                return known == key ? .recorded : .contradicts
            }
            try journal.append(["key": key.json])
            keys[key.credentialID] = key
            return .recorded
        }
    }

    /// The key that was recorded for a credential.
    func key(_ id: ID<Credential>) async -> CustomerKey? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: keys[id]) }
        }
    }

    /// The decision about an action.
    func booking(_ id: ID<Action>) async -> Booking? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: bookings[id]) }
        }
    }

    /// Decides about an action unless that was done before, and keeps the decision before telling it.
    ///
    /// - Parameters:
    ///   - id: The action, decided at most once.
    ///   - digest: SHA-256 of the signed message.
    ///   - at: Core banking's time.
    ///   - verdict: What to carry out, or why not.
    /// - Returns: The decision that stands.
    /// - Throws: When it could not be written; then nothing was decided.
    func book(
        _ id: ID<Action>, digest: Digest, at: Instant,
        verdict: Result<ActionContent, OrderJudge.Refusal>
    ) async throws -> Entry {
        try await onQueue { [self] in
            if let earlier = bookings[id] {
                return earlier.messageDigest == digest ? .decided(earlier) : .otherMessage
            }
            let receipt: Receipt
            var members: [String: String] = [:]
            switch verdict {
            case .success(let content):
                receipt = .executed(reference: "CB-\(executedCount + 1)")
                members = content.members
            case .failure(let refusal):
                receipt = .refused(reason: refusal.rawValue)
            }
            let booking = Booking(
                actionID: id, messageDigest: digest, receipt: receipt, at: at, members: members)
            try journal.append(["booking": booking.json])
            bookings[id] = booking
            if booking.isExecuted { executedCount += 1 }
            return .decided(booking)
        }
    }

    /// Records those of these events that are not in the books yet, in their order.
    ///
    /// - Parameter events: As they came.
    /// - Returns: What stands.
    /// - Throws: When it could not be written; then nothing was recorded.
    func record(_ events: ReceivedEvents) async throws -> EventsEntry {
        try await onQueue { [self] in
            guard events.first.number <= lastEvent.number + 1 else { return .gap }
            let fresh = events.after(lastEvent)
            guard !fresh.isEmpty else { return .recorded }
            try journal.append(["events": .array(fresh)])
            lastEvent = events.last
            return .recorded
        }
    }

    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value)
        async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}

extension Booking {
    fileprivate var isExecuted: Bool {
        if case .executed = receipt { true } else { false }
    }
}
