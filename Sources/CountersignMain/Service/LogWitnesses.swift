import Countersign
import Dispatch
import Evidence
import HTTP
import Postgres

/// Has witnesses cosign what was published, again and again, until its task is cancelled.
///
/// Only the instance that leads asks: two would disturb each other's proofs, and it is the one that has to
/// stop signing when a witness contradicts. A witness that does not answer stops nothing.
struct LogWitnesses: Sendable {
    let witnesses: [LogWitness]
    let policy: TrustPolicy
    let link: WitnessLink
    /// Signs the checkpoint of a log without leaves; blocks for as long as the signer takes.
    let signEmpty: @Sendable () -> SignedNote?
    let lead: LogLead
    let standing: WitnessStanding
    let answers: Counters
    let pace: WitnessStanding.Pace

    func run() async {
        while !Task.isCancelled {
            if lead.isHere {
                await look(at: .now)
            } else {
                standing.forget()
            }
            await pause(pace.look)
        }
    }

    /// Shows the newest published checkpoint to whom it is due.
    func look(at now: ContinuousClock.Instant) async {
        guard standing.isRoundDue(at: now, pace) else { return }
        do throws(StoreFailure) {
            guard let published = try await link.testimony.published() else { return }
            let due = standing.due(for: published.size, at: now, pace)
            guard !due.isEmpty else { return }
            await show(WitnessLink.Shown(published), at: now) { due.contains($0.name) }
        } catch {
            Log.event(.logWitnessesUnasked, .failure("failure", error))
        }
    }

    /// Asks every witness whether it has seen another log than this one, before anything is signed.
    ///
    /// A database without checkpoints has none to show. So it shows that of a log without leaves, which is
    /// consistent with every log: a witness that has seen more tells by its answer.
    ///
    /// - Returns: Whether none contradicts, now or since its last cosignature. Who does not answer says
    ///   nothing.
    /// - Throws: ``StoreFailure``.
    func agree() async throws(StoreFailure) -> Bool {
        if let published = try await link.testimony.published() {
            await show(WitnessLink.Shown(published), at: .now) { _ in true }
        } else if let note = await emptyNote() {
            await show(WitnessLink.Shown(empty: note), at: .now) { _ in true }
        }
        return !standing.isContradicted
    }

    private func emptyNote() async -> SignedNote? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: signEmpty()) }
        }
    }

    private func show(
        _ shown: WitnessLink.Shown, at now: ContinuousClock.Instant,
        to isAsked: (LogWitness) -> Bool
    ) async {
        standing.began(at: now)
        await withTaskGroup { group in
            for witness in witnesses where isAsked(witness) {
                group.addTask {
                    let outcome = await link.show(
                        shown, to: witness, after: standing.known(witness.name))
                    tell(outcome, of: witness, standing.note(outcome, of: witness.name, at: now))
                }
            }
        }
        guard shown.isPublished else { return }
        if standing.judge(shown.size, by: policy, at: now) { Log.event(.logQuorumMissing) }
        guard standing.quorum == .met(size: shown.size) else { return }
        // Told again in the next round, should it fail.
        do throws(StoreFailure) { try await link.testimony.recordQuorum(of: shown.size) } catch {
            Log.event(.logQuorumUnrecorded, .failure("failure", error))
        }
    }

    private func tell(
        _ outcome: WitnessLink.Outcome, of witness: LogWitness, _ notice: WitnessStanding.Notice
    ) {
        answers.increment(witness.name, outcome.word)
        let name = LogField.code("witness", checking: witness.name)
        let cause = LogField.code("cause", checking: outcome.word)
        switch notice {
        case .none: break
        case .failed: Log.event(.logWitnessFailed, name, cause)
        case .silent: Log.event(.logWitnessSilent, name, cause)
        case .contradicted:
            Log.event(.logWitnessContradicts, name, cause, .logRunbook)
        }
    }
}

extension LogWitnesses {
    /// Makes what is shown of the witnesses.
    ///
    /// - Returns: Counts their answers.
    static func measure(
        _ witnesses: [LogWitness], _ standing: WitnessStanding, with metrics: Metrics
    ) -> Counters {
        let names = Metrics.Label("witness", witnesses.map(\.name))
        metrics.ages(
            "countersign_log_cosignature_age_seconds",
            help: "Since the time in a witness's newest cosignature; -1 before the first.",
            label: names
        ) { standing.cosignedAt($0) }
        metrics.gauge(
            "countersign_log_quorum",
            help:
                "1 when the checkpoint that was shown last has the cosignatures that the policy "
                + "asks for, 0 when not, -1 before any was shown."
        ) {
            switch standing.quorum {
            case .unknown: -1
            case .missing: 0
            case .met: 1
            }
        }
        return metrics.counters(
            "countersign_log_witness_answers_total",
            help:
                "Checkpoints shown to witnesses, by outcome: inconsistent and larger page somebody.",
            labels: [names, Metrics.Label("outcome", WitnessLink.Outcome.words)])
    }
}
