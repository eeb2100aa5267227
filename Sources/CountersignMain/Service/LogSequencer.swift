import Countersign
import Evidence
import HTTP
import Postgres

/// Gives evidence its positions, signs checkpoints and publishes them, again and again, until its task is
/// cancelled. Every instance runs one; the one that holds the lead works.
///
/// Nothing is signed before what is held of the log outside was found in it: a database that was set back to
/// yesterday would have another record at a position that was promised, and the log would be two.
struct LogSequencer: Sendable {
    let log: PostgresLog
    let signer: LogSigner
    let origin: String
    /// Where checkpoints are held outside of the database.
    let anchors: [LogAnchor]
    /// Who has seen the log grow; `nil` when nobody is asked.
    let witnesses: LogWitnesses?
    /// Told whether this instance leads.
    let lead: LogLead
    let announce: @Sendable () async throws(StoreFailure) -> Void
    let metrics: LogMetrics
    let tick: Duration
    let failpoints: Failpoints?
    /// The pause after the log was found to be another than it was, which a person has to end.
    let refusedPause: Duration

    func run() async {
        var state = State()
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            let next: Next
            do throws(StoreFailure) { next = try await round(&state) } catch {
                next = await recover(from: error, &state)
            }
            switch next {
            case .again: break
            case .tick: await pause(max(.zero, tick - (ContinuousClock.now - begin)))
            case .refused: await pause(refusedPause)
            }
        }
        lead.set(false)
        await log.close()
    }

    /// What this instance knows of the log while it leads.
    private struct State {
        /// Whether what is held outside was found in it.
        var isChecked = false
        /// What this session signed last: the newest there is, as long as it leads.
        var last: Checkpoint?
    }

    /// When the next round is.
    private enum Next {
        /// At once: a large batch is one of several.
        case again
        case tick
        /// Later: nothing may be signed until somebody has looked.
        case refused
    }

    /// From so many records on the next batch is not waited for.
    private static let largeBatch = 10_000

    /// One round: leads if it can, compares before it signs first, and gives positions to what waits for one.
    private func round(_ state: inout State) async throws(StoreFailure) -> Next {
        let part = try await log.lead()
        lead.set(part != .follower)
        if part != .leader || witnesses?.standing.isContradicted == true { state = State() }
        guard part != .follower else { return .tick }
        if !state.isChecked {
            // Before anything is compared: a refusal may last until the counter has caught up.
            try await log.noteRewound()
            switch await compare() {
            case .same: break
            case .other: return .refused
            case .unread:
                // Another instance may be able to read what this one cannot.
                await giveUpLead()
                return .refused
            }
            try await announce()
            try await log.publishNewest()
            state.isChecked = true
        }
        guard let batch = try await advance(after: state.last) else { return .tick }
        state.last = batch.checkpoint
        return batch.count >= Self.largeBatch ? .again : .tick
    }

    /// In doubt everything is read and compared again.
    private func recover(from failure: StoreFailure, _ state: inout State) async -> Next {
        state = State()
        lead.set(false)
        if let alteration = PostgresLog.Alteration(failure) {
            metrics.mismatched(alteration.anchor)
            await giveUpLead()
            return .refused
        }
        failed(failure)
        if failure == PostgresLog.unsigned { await giveUpLead() }
        return .tick
    }

    private func failed(_ failure: StoreFailure) {
        metrics.failed()
        Log.event(.logFailed, .failure("failure", failure))
    }

    /// Lets another instance try, whose key or mirror may be in order.
    private func giveUpLead() async {
        lead.set(false)
        do throws(StoreFailure) { try await log.giveUpLead() } catch {
            Log.event(.logFailed, .failure("failure", error))
        }
    }

    /// - Returns: What got positions; `nil` when nothing waited.
    private func advance(after last: Checkpoint?) async throws(StoreFailure) -> PostgresLog.Batch? {
        let signer = signer
        let failpoints = failpoints
        let keys = signer.keys.map(\.verifierKey)
        guard
            let batch = try await log.advance(
                after: last, keys: keys, written: { failpoints?.pass(.logBeforeCommit) },
                { checkpoint in
                    failpoints?.pass(.logBeforeSign)
                    let note = signer.sign(checkpoint)
                    failpoints?.pass(.logAfterSign)
                    if note == nil { Log.event(.logUnsigned) }
                    return note
                })
        else { return nil }
        failpoints?.pass(.logAfterCommit)
        try await log.publish(batch)
        failpoints?.pass(.logAfterPublish)
        metrics.sequenced(batch, at: systemTime())
        return batch
    }

    /// What came of comparing the log with what is held of it outside.
    private enum Comparison { case same, other, unread }

    private func compare() async -> Comparison {
        for anchor in anchors {
            let found = await compare(with: anchor)
            guard found == .same else { return found }
        }
        return await compareWithWitnesses()
    }

    private func compare(with anchor: LogAnchor) async -> Comparison {
        let held: SignedNote?
        do throws(LogAnchor.Unread) { held = try await anchor.newest() } catch {
            metrics.failed()
            Log.event(
                .logAnchorUnread, [.code("anchor", anchor.name)] + error.fields + [.logRunbook])
            return .unread
        }
        guard let held else { return .same }
        return await compare(anchor.name) { () async throws(StoreFailure) in
            try await isOurs(held)
        }
    }

    /// Whether no witness has seen another log. Who does not answer stops nothing, unless it has
    /// contradicted before.
    private func compareWithWitnesses() async -> Comparison {
        guard let witnesses else { return .same }
        return await compare("witness") { () async throws(StoreFailure) in
            try await witnesses.agree()
        }
    }

    private func compare(
        _ anchor: StaticString, _ agrees: () async throws(StoreFailure) -> Bool
    ) async -> Comparison {
        do throws(StoreFailure) {
            if try await agrees() { return .same }
            metrics.mismatched(anchor)
            return .other
        } catch {
            failed(error)
            return .unread
        }
    }

    private func isOurs(_ note: SignedNote) async throws(StoreFailure) -> Bool {
        guard let checkpoint = Checkpoint(text: note.text), checkpoint.origin == origin else {
            return false
        }
        // Empty logs are all the same, and there may have been none before.
        if checkpoint.size == 0 { return true }
        return try await log.holds(note.text, of: checkpoint.size)
    }
}

extension PostgresLog.Alteration {
    /// The word of the event.
    fileprivate var anchor: StaticString {
        switch self {
        case .transactions: "transactions"
        case .signature: "signature"
        case .origin: "origin"
        case .edge: "edge"
        }
    }
}

/// A place outside of the database that holds the newest checkpoint it was given.
struct LogAnchor: Sendable {
    /// A word for the operator.
    let name: StaticString
    /// What it holds; `nil` when it was never given any.
    let newest: @Sendable () async throws(Unread) -> SignedNote?

    /// It cannot say what it holds.
    struct Unread: Error {
        /// Why, for the operator.
        let fields: [LogField]
    }
}
