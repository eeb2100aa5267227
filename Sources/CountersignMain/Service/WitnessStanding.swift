import Countersign
import Crypto
import Evidence

/// What the witnesses have said so far, as this instance knows it.
final class WitnessStanding: Sendable {
    /// How often witnesses are asked.
    struct Pace: Sendable {
        /// Between two looks for a checkpoint to show.
        let look: Duration
        /// Between two rounds, however fast the log grows. All are shown the same checkpoint, so that one has
        /// the cosignatures of all.
        let round: Duration
        /// Until a checkpoint that has not grown is shown again, for a fresh time.
        let fresh: Duration
    }

    /// What one outcome gives a person to look at.
    enum Notice: Hashable, Sendable {
        case none
        case failed, silent
        case contradicted
    }

    /// Whether the newest checkpoint that was shown has the cosignatures that the policy asks for.
    enum Quorum: Hashable, Sendable {
        /// None was shown yet.
        case unknown
        case missing
        /// That of this size has them.
        case met(size: Int64)
    }

    private struct WitnessState: Sendable {
        var known: Int64 = 0
        /// The checkpoint that it cosigned last, and when that was asked.
        var cosigned: (size: Int64, asked: ContinuousClock.Instant)?
        /// By the witness's clock.
        var at: Instant?
        var absence: Absence
        /// Until the witness cosigns again: that it is silent does not make it agree.
        var contradicts = false
    }

    private struct State: Sendable {
        var witnesses: [String: WitnessState]
        var lastRound: ContinuousClock.Instant?
        var quorum = Quorum.unknown
        var quorumAbsence: Absence
    }

    private let state: Locked<State>
    private let alarmAfter: Duration

    /// - Parameters:
    ///   - names: The policy's names of the witnesses that are asked.
    ///   - alarmAfter: Until somebody is told of an absence.
    init(_ names: [String], alarmAfter: Duration) {
        self.alarmAfter = alarmAfter
        let absence = Absence(alarmAfter: alarmAfter)
        let witnesses = names.map { ($0, WitnessState(absence: absence)) }
        state = Locked(
            State(
                witnesses: Dictionary(uniqueKeysWithValues: witnesses), quorumAbsence: absence))
    }

    /// Whether a witness has seen another log than this one.
    var isContradicted: Bool {
        state.withLock { $0.witnesses.values.contains(where: \.contradicts) }
    }

    var quorum: Quorum { state.withLock { $0.quorum } }

    /// The time in the newest cosignature of a witness.
    func cosignedAt(_ name: String) -> Instant? {
        state.withLock { $0.witnesses[name]?.at }
    }

    /// The size that a witness cosigned last, as far as is known here.
    func known(_ name: String) -> Int64 { state.withLock { $0.witnesses[name]?.known ?? 0 } }

    func isRoundDue(at now: ContinuousClock.Instant, _ pace: Pace) -> Bool {
        state.withLock { $0.lastRound.map { now - $0 >= pace.round } ?? true }
    }

    /// Who is to be shown a checkpoint of that size.
    func due(for size: Int64, at now: ContinuousClock.Instant, _ pace: Pace) -> Set<String> {
        state.withLock { state in
            Set(
                state.witnesses.filter { _, one in
                    guard let cosigned = one.cosigned, !one.contradicts else { return true }
                    return cosigned.size != size || now - cosigned.asked >= pace.fresh
                }.keys)
        }
    }

    func began(at now: ContinuousClock.Instant) { state.withLock { $0.lastRound = now } }

    /// Takes what came of showing.
    func note(
        _ outcome: WitnessLink.Outcome, of name: String, at now: ContinuousClock.Instant
    ) -> Notice {
        state.withLock { state in
            var one =
                state.witnesses[name] ?? WitnessState(absence: Absence(alarmAfter: alarmAfter))
            defer { state.witnesses[name] = one }
            switch outcome {
            case .cosigned(let size, let at):
                one.known = size
                one.cosigned = (size, now)
                one.at = max(one.at ?? at, at)
                one.absence.ended()
                one.contradicts = false
                return .none
            case .contradicted:
                one.contradicts = true
                return .contradicted
            case .failed:
                switch one.absence.failed(at: now) {
                case .none: return .none
                case .first: return .failed
                case .alarm: return .silent
                }
            }
        }
    }

    /// Counts who has cosigned a checkpoint.
    ///
    /// - Returns: Whether somebody is to be told that they are too few.
    func judge(
        _ size: Int64, by policy: TrustPolicy, at now: ContinuousClock.Instant
    ) -> Bool {
        state.withLock { state in
            let cosigned = state.witnesses.filter { $0.value.cosigned?.size == size }
            let isQuorum = policy.isQuorum(Set(cosigned.keys))
            state.quorum = isQuorum ? .met(size: size) : .missing
            if isQuorum {
                state.quorumAbsence.ended()
                return false
            }
            return state.quorumAbsence.failed(at: now) == .alarm
        }
    }

    /// Forgets all but who contradicts: another instance asks now.
    func forget() {
        state.withLock { state in
            state.lastRound = nil
            state.quorum = .unknown
            state.quorumAbsence.ended()
            for (name, one) in state.witnesses {
                var fresh = WitnessState(absence: Absence(alarmAfter: alarmAfter))
                fresh.contradicts = one.contradicts
                state.witnesses[name] = fresh
            }
        }
    }
}
