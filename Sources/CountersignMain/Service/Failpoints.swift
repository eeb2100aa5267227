import Countersign
import Foundation

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
    }

    let place: Place
    /// The passing that kills, from 1.
    let passing: Int

    /// Reads `PLACE` or `PLACE:N`; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let place = Place(rawValue: String(parts[0])), parts.count <= 2 else { return nil }
        self.place = place
        guard parts.count == 2 else {
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
actor Failpoints {
    private let failpoint: Failpoint
    private var left: Int

    init(_ failpoint: Failpoint) {
        self.failpoint = failpoint
        left = failpoint.passing
    }

    /// Tells that this place is passed; does not return when the process is to die here.
    func pass(_ place: Failpoint.Place) {
        guard place == failpoint.place else { return }
        left -= 1
        // No signal handler and no `atexit` runs: what is not in the database or on its way is lost.
        if left == 0 { kill(getpid(), SIGKILL) }
    }
}
