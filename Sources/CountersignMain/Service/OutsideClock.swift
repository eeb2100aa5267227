import Countersign

/// The clocks of witnesses and authorities, who say at what time they have seen a checkpoint.
enum OutsideClock {
    /// How far one may be from ours.
    static let offsetMax = Duration.seconds(300)

    /// Whether a stated time is near enough to be worth keeping.
    static func isTimely(_ stated: Instant, at now: Instant) -> Bool {
        Duration.milliseconds(abs(now.milliseconds - stated.milliseconds)) <= offsetMax
    }
}
