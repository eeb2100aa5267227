import Countersign
import Crypto
import HTTP
import Postgres

/// Has what was published stamped by each authority, again and again, until its task is cancelled.
///
/// Only the instance that leads asks, to spare the authorities the same question twice. One that is down
/// stops nothing: the next timestamp is of a later checkpoint, which covers all leaves before it.
struct LogTimestamps: Sendable {
    let authorities: [TimestampAuthority]
    let link: TimestampLink
    /// What the witnesses have said; `nil` when nobody is asked.
    let witnesses: WitnessStanding?
    let lead: LogLead
    let standing: TimestampStanding
    let answers: Counters

    /// Between two looks for a checkpoint that has grown.
    private static let look = Duration.seconds(1)

    func run() async {
        while !Task.isCancelled {
            if lead.isHere {
                await look(at: .now)
            } else {
                standing.forget()
            }
            await pause(Self.look)
        }
    }

    /// Has a published checkpoint stamped by those whose turn it is, all at once.
    func look(at now: ContinuousClock.Instant) async {
        do throws(StoreFailure) {
            if !standing.isKnown { standing.know(try await link.testimony.timestamped()) }
            guard let published = try await chosen() else { return }
            await withTaskGroup { group in
                for authority in authorities
                where standing.take(authority.name, for: published.size, at: now) {
                    group.addTask {
                        let outcome = await link.stamp(published, by: authority)
                        tell(
                            outcome, of: authority,
                            standing.note(outcome, of: authority.name, at: now))
                    }
                }
            }
        } catch {
            Log.event(.logTimestampsUnasked, .failure("failure", error))
        }
    }

    /// The checkpoint that the witnesses have cosigned last, so that one bundle can have the words of all;
    /// the newest one when they are too few.
    private func chosen() async throws(StoreFailure) -> PostgresLogTestimony.Published? {
        switch witnesses?.quorum {
        case .unknown: nil
        case .met(let size): try await link.testimony.published(of: size)
        case .missing, nil: try await link.testimony.published()
        }
    }

    private func tell(
        _ outcome: TimestampLink.Outcome, of authority: TimestampAuthority,
        _ notice: Absence.Notice
    ) {
        answers.increment(authority.name, outcome.word)
        let name = LogField.code("authority", checking: authority.name)
        let cause = LogField.code("cause", checking: outcome.word)
        switch notice {
        case .none: break
        case .first: Log.event(.logTimestampFailed, name, cause)
        case .alarm: Log.event(.logTimestampsSilent, name, cause)
        }
    }
}

/// What the authorities have stamped so far, as this instance knows it.
final class TimestampStanding: Sendable {
    private struct AuthorityState: Sendable {
        var stamped: (size: Int64, at: Instant)?
        var asked: ContinuousClock.Instant?
        var absence: Absence
    }

    private struct State: Sendable {
        var authorities: [String: AuthorityState] = [:]
        var isKnown = false
    }

    private let state = Locked(State())
    private let pace: Duration
    private let alarmAfter: Duration

    /// - Parameters:
    ///   - pace: Between two questions to one authority.
    ///   - alarmAfter: Until somebody is told of an absence.
    init(pace: Duration, alarmAfter: Duration) {
        self.pace = pace
        self.alarmAfter = alarmAfter
    }

    private var unasked: AuthorityState {
        AuthorityState(absence: Absence(alarmAfter: alarmAfter))
    }

    /// Whether what the database has was read.
    var isKnown: Bool { state.withLock { $0.isKnown } }

    /// Takes what the database has.
    func know(_ newest: [String: (size: Int64, at: Instant)]) {
        state.withLock { state in
            state.isKnown = true
            for (name, stamped) in newest {
                state.authorities[name, default: unasked].stamped = stamped
            }
        }
    }

    /// The time in the newest timestamp of an authority.
    func stampedAt(_ name: String) -> Instant? {
        state.withLock { $0.authorities[name]?.stamped?.at }
    }

    /// Whether it is an authority's turn for a checkpoint of that size; if so, it was asked now.
    func take(_ name: String, for size: Int64, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            let one = state.authorities[name] ?? unasked
            let hasGrown = one.stamped.map { size > $0.size } ?? true
            guard hasGrown, one.asked.map({ now - $0 >= pace }) ?? true else { return false }
            state.authorities[name, default: unasked].asked = now
            return true
        }
    }

    /// Takes what came of asking.
    func note(
        _ outcome: TimestampLink.Outcome, of name: String, at now: ContinuousClock.Instant
    ) -> Absence.Notice {
        state.withLock { state in
            switch outcome {
            case .stamped(let size, let at):
                state.authorities[name, default: unasked].stamped = (size, at)
                state.authorities[name, default: unasked].absence.ended()
                return .none
            case .failed:
                return state.authorities[name, default: unasked].absence.failed(at: now)
            }
        }
    }

    /// Forgets everything: another instance asks now.
    func forget() { state.withLock { $0 = State() } }
}

extension LogTimestamps {
    /// Makes what is shown of the authorities.
    ///
    /// - Returns: Counts their answers.
    static func measure(
        _ authorities: [TimestampAuthority], _ standing: TimestampStanding, with metrics: Metrics
    ) -> Counters {
        let names = Metrics.Label("authority", authorities.map(\.name))
        metrics.ages(
            "countersign_log_timestamp_age_seconds",
            help: "Since the time in an authority's newest timestamp; -1 before the first.",
            label: names
        ) { standing.stampedAt($0) }
        return metrics.counters(
            "countersign_log_timestamp_answers_total",
            help: "Timestamps asked for, by outcome.",
            labels: [names, Metrics.Label("outcome", TimestampLink.Outcome.words)])
    }
}
