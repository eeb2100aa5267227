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
        var isChecked = false
        while !Task.isCancelled {
            let begin = ContinuousClock.now
            var refused = false
            do throws(StoreFailure) {
                refused = try await round(&isChecked)
            } catch {
                // In doubt everything is read and compared again.
                isChecked = false
                lead.set(false)
                metrics.failed()
                Log.event(.logFailed, .failure("failure", error))
                if error == PostgresLog.unsigned { await giveUpLead() }
            }
            await pause(refused ? refusedPause : max(.zero, tick - (ContinuousClock.now - begin)))
        }
        lead.set(false)
        await log.close()
    }

    /// One tick: leads if it can, compares before it signs first, and gives positions to what waits for one.
    ///
    /// - Returns: Whether nothing may be signed until somebody has looked.
    private func round(_ isChecked: inout Bool) async throws(StoreFailure) -> Bool {
        let part = try await log.lead()
        lead.set(part != .follower)
        if part != .leader || witnesses?.standing.isContradicted == true { isChecked = false }
        guard part != .follower else { return false }
        if !isChecked {
            switch await compare() {
            case .same: break
            case .other: return true
            case .unread:
                // Another instance may be able to read what this one cannot.
                await giveUpLead()
                return true
            }
            try await announce()
            try await log.publishNewest()
            isChecked = true
        }
        // A large batch is one of several.
        while try await advance() >= Self.largeBatch {}
        return false
    }

    /// From so many records on the next batch is not waited for.
    private static let largeBatch = 10_000

    /// Lets another instance try, whose key or mirror may be in order.
    private func giveUpLead() async {
        lead.set(false)
        do throws(StoreFailure) { try await log.giveUpLead() } catch {
            Log.event(.logFailed, .failure("failure", error))
        }
    }

    /// - Returns: How many records got a position.
    private func advance() async throws(StoreFailure) -> Int {
        let signer = signer
        let failpoints = failpoints
        guard
            let batch = try await log.advance({ checkpoint in
                failpoints?.pass(.logBeforeSign)
                let note = signer.sign(checkpoint)
                failpoints?.pass(.logAfterSign)
                if note == nil { Log.event(.logUnsigned) }
                return note
            })
        else { return 0 }
        failpoints?.pass(.logAfterCommit)
        try await log.publish(batch)
        failpoints?.pass(.logAfterPublish)
        metrics.sequenced(batch, at: systemTime())
        return batch.count
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
            Log.event(.logAnchorUnread, [.code("anchor", anchor.name)] + error.fields)
            return .unread
        }
        do throws(StoreFailure) {
            if let held, try await !isOurs(held) {
                metrics.refused()
                Log.event(.logMismatch, .code("anchor", anchor.name), .logRunbook)
                return .other
            }
            return .same
        } catch {
            metrics.failed()
            Log.event(.logFailed, .failure("failure", error))
            return .unread
        }
    }

    /// Whether no witness has seen another log. Who does not answer stops nothing, unless it has
    /// contradicted before.
    private func compareWithWitnesses() async -> Comparison {
        guard let witnesses else { return .same }
        do throws(StoreFailure) {
            guard try await witnesses.agree() else {
                metrics.refused()
                Log.event(.logMismatch, .code("anchor", "witness"), .logRunbook)
                return .other
            }
            return .same
        } catch {
            metrics.failed()
            Log.event(.logFailed, .failure("failure", error))
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
