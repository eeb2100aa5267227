import Synchronization

/// Whether this instance's sequencer leads, for those who work beside it.
final class LogLead: Sendable {
    private let leads = Atomic<Bool>(false)

    var isHere: Bool { leads.load(ordering: .relaxed) }

    func set(_ isHere: Bool) { leads.store(isHere, ordering: .relaxed) }
}

/// For how long something has failed, and when somebody is to be told of it.
struct Absence: Sendable {
    /// What a failure is worth.
    enum Notice: Sendable {
        /// Nothing new.
        case none
        /// It is the first after a success.
        case first
        /// It has failed for long, or for as long again.
        case alarm
    }

    /// Until somebody is told. A bank's approvals go on meanwhile, but what nobody else has seen could still be
    /// written anew.
    let alarmAfter: Duration
    private var told: ContinuousClock.Instant?

    init(alarmAfter: Duration) { self.alarmAfter = alarmAfter }

    mutating func ended() { told = nil }

    mutating func failed(at now: ContinuousClock.Instant) -> Notice {
        guard let last = told else {
            told = now
            return .first
        }
        guard now - last >= alarmAfter else { return .none }
        told = now
        return .alarm
    }
}
