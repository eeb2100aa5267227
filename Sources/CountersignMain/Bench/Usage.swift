import Foundation

/// The processes that take part, for the accounts of what each one used.
struct Participants: Sendable {
    let service: Int32
    /// The postmaster; its backends are counted with it.
    let postgres: Int32
}

/// What was used up to a moment.
struct UsageMark: Sendable {
    private let at: ContinuousClock.Instant
    private let service: Int
    private let postgres: Int
    private let client: Int
    private let machine: Int

    init(_ participants: Participants) {
        at = .now
        service = ProcessTimes.of(participants.service)?.own ?? 0
        postgres = ProcessTimes.ticks(ofFamily: participants.postgres)
        // This process, and `pgbench` when it has ended; the service has not.
        let own = ProcessTimes.of(ProcessInfo.processInfo.processIdentifier)
        client = (own?.own ?? 0) + (own?.ofEndedChildren ?? 0)
        machine = ProcessTimes.busyTicks()
    }

    /// What was used since.
    func used(_ participants: Participants) -> Usage {
        let now = UsageMark(participants)
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        func seconds(_ path: KeyPath<UsageMark, Int>) -> Double {
            Double(now[keyPath: path] - self[keyPath: path]) / ticks
        }
        return Usage(
            elapsed: (now.at - at).inSeconds, service: seconds(\.service),
            postgres: seconds(\.postgres), client: seconds(\.client), machine: seconds(\.machine))
    }
}

/// What was used in a window: CPU seconds of each.
struct Usage: Sendable, Equatable {
    /// The length of the window in seconds.
    let elapsed: Double
    let service: Double
    let postgres: Double
    /// The load generator: this process, or `pgbench`.
    let client: Double
    /// Everything on the machine.
    let machine: Double

    /// Cores that others kept busy meanwhile: the noise of the measurement.
    var others: Double {
        max(0, machine - service - postgres - client) / max(elapsed, 0.001)
    }
}
