import Countersign
import Foundation
import Synchronization

/// A place at which the service is to die, as by `kill -9`, so that tests see what a crash leaves.
///
/// For development only; see ``Configuration/checkService()``.
struct Failpoint: Hashable, Sendable {
    /// Between which two steps. The raw value is the word of the setting `failpoint`.
    enum Place: String, CaseIterable, Sendable {
        /// A signed answer to a challenge came, and nothing was read.
        case approveBeforeLoad = "approve.before-load"
        /// Everything was read, and nothing was verified.
        case approveAfterLoad = "approve.after-load"
        /// The proof and the policy said yes, and nothing was sent to the database.
        case approveBeforeCommit = "approve.before-commit"
        /// The database has the approval, and the caller has no answer.
        case approveAfterCommit = "approve.after-commit"
        /// An action is ready to be stored, and nothing was sent to the database.
        case createBeforeCommit = "create.before-commit"
        /// The database has the action, and the caller has no answer.
        case createAfterCommit = "create.after-commit"
        /// An order is leased to this process, and nothing was sent to core banking.
        case deliveryAfterClaim = "delivery.after-claim"
        /// Core banking has decided about an order, and the database does not know it.
        case deliveryAfterPush = "delivery.after-push"
        /// The database knows what core banking decided about an order.
        case deliveryAfterSettle = "delivery.after-settle"
        /// A batch of the log was read, and its checkpoint is not signed.
        case logBeforeSign = "log.before-sign"
        /// The checkpoint is signed, and nothing was written.
        case logAfterSign = "log.after-sign"
        /// The batch and its checkpoint are written, and nothing is committed.
        case logBeforeCommit = "log.before-commit"
        /// The database has the batch and its checkpoint, which may not leave the service yet.
        case logAfterCommit = "log.after-commit"
        /// The checkpoint may leave the service, and has not.
        case logAfterPublish = "log.after-publish"
        /// The mirror has the tiles of a checkpoint, and not the checkpoint.
        case logBeforeMirror = "log.before-mirror"

        var isOfLog: Bool { rawValue.hasPrefix("log.") }
    }

    let place: Place
    /// The passing that kills, from 1.
    let passing: Int
    /// Whether this instance gives positions without the lead, beside others: what keeps the log one then is the
    /// database alone.
    let isUnled: Bool

    /// Reads `PLACE`, `PLACE:N` or, of the log's places, `PLACE:N:unled`; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let place = Place(rawValue: String(parts[0])), parts.count <= 3 else { return nil }
        self.place = place
        isUnled = parts.count == 3
        guard !isUnled || place.isOfLog && parts[2] == "unled" else { return nil }
        guard parts.count > 1 else {
            passing = 1
            return
        }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1]),
            (1...1_000_000).contains(number)
        else { return nil }
        passing = number
    }
}

/// Counts the passings of one failpoint and dies at the one that was named.
final class Failpoints: Sendable {
    private let failpoint: Failpoint
    private let left: Mutex<Int>

    init(_ failpoint: Failpoint) {
        self.failpoint = failpoint
        left = Mutex(failpoint.passing)
    }

    /// Tells that this place is passed; does not return when the process is to die here.
    func pass(_ place: Failpoint.Place) {
        guard place == failpoint.place else { return }
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        // No signal handler and no `atexit` runs: what is not in the database or on its way is lost.
        if isLast { kill(getpid(), SIGKILL) }
    }
}
