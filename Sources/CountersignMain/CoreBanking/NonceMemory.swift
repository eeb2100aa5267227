import Countersign
import Foundation

/// The nonces of requests that are still fresh.
///
/// In memory only: after a restart a recorded request could be played back while its signature is still
/// fresh, and would be answered with the booking that it made.
///
/// Sendable, unchecked: the dictionary is touched only under the lock.
final class NonceMemory: @unchecked Sendable {
    private let lock = NSLock()
    private var seen: [String: Instant] = [:]
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) { self.now = now }

    /// Remembers a nonce until that time; `false` when it is remembered already.
    func isFirstUse(_ nonce: String, until: Instant) -> Bool {
        lock.withLock {
            let now = now()
            if seen.count >= Self.pruneAbove { seen = seen.filter { $0.value > now } }
            return seen.updateValue(until, forKey: nonce) == nil
        }
    }

    private static let pruneAbove = 10_000
}
