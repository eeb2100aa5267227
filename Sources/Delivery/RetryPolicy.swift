package import Countersign

/// When an item that was not settled is tried again, and when trying ends.
///
/// Full jitter: each delay is drawn evenly from 1 s to a ceiling that doubles with every attempt, so
/// that orders which failed together do not come back together.
package struct RetryPolicy: Sendable {
    /// The ceiling of the first delay.
    package let firstDelay: Seconds
    /// The ceiling that doubling stops at.
    package let delayMax: Seconds
    /// Orders are sent for this long after their first attempt, then only asked about.
    package let sendingMax: Seconds

    /// 1 s, doubling up to 300 s, for 24 hours. Source: `docs/api.md` §9.
    package static let standard = RetryPolicy(
        firstDelay: Seconds(1), delayMax: Seconds(300), sendingMax: Seconds(86_400))

    package init(firstDelay: Seconds, delayMax: Seconds, sendingMax: Seconds) {
        precondition(firstDelay >= Seconds(1), "a delay below 1 s would hammer core banking")
        precondition(delayMax >= firstDelay, "the longest delay is no shorter than the first")
        self.firstDelay = firstDelay
        self.delayMax = delayMax
        self.sendingMax = sendingMax
    }

    /// The time until the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that settled nothing, from 1.
    ///   - entropy: Draws the delay.
    /// - Returns: 1 s to the ceiling of this attempt.
    package func delay(after attempt: Int, entropy: EntropySource) -> Seconds {
        var random: UInt64 = 0
        for byte in entropy(8) { random = random << 8 | UInt64(byte) }
        let choices = UInt64(ceiling(after: attempt).count)
        return Seconds(1 + Int64(random.multipliedFullWidth(by: choices).high))
    }

    /// The longest delay after an attempt.
    package func ceiling(after attempt: Int) -> Seconds {
        var ceiling = firstDelay.count
        for _ in 1..<max(1, min(attempt, 64)) {
            ceiling = min(ceiling * 2, delayMax.count)
        }
        return Seconds(min(ceiling, delayMax.count))
    }

    /// Whether an order of this claim may be sent again later.
    package func maySendAgain(_ claim: Claim) -> Bool {
        claim.claimedAt < claim.firstAttemptAt + sendingMax
    }
}
