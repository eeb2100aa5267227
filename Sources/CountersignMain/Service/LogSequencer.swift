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
            do throws(StoreFailure) {
                let part = try await log.lead()
                lead.set(part != .follower)
                switch part {
                case .follower: isChecked = false
                case .new:
                    isChecked = false
                    fallthrough
                case .leader:
                    if witnesses?.standing.isContradicted == true { isChecked = false }
                    if !isChecked {
                        let found = await compare()
                        guard found == .same else {
                            // Another instance may be able to read what this one cannot.
                            if found == .unread { await giveUpLead() }
                            await pause(refusedPause)
                            continue
                        }
                        try await announce()
                        try await log.publishNewest()
                        isChecked = true
                    }
                    try await advance()
                }
            } catch {
                // In doubt everything is read and compared again.
                isChecked = false
                lead.set(false)
                metrics.failed()
                Log.event(.logFailed, .failure("failure", error))
                if error == PostgresLog.unsigned { await giveUpLead() }
            }
            await pause(max(.zero, tick - (ContinuousClock.now - begin)))
        }
        lead.set(false)
        await log.close()
    }

    /// Lets another instance try, whose key or mirror may be in order.
    private func giveUpLead() async {
        lead.set(false)
        do throws(StoreFailure) { try await log.giveUpLead() } catch {
            Log.event(.logFailed, .failure("failure", error))
        }
    }

    private func advance() async throws(StoreFailure) {
        let signer = signer
        let metrics = metrics
        let failpoints = failpoints
        guard
            let batch = try await log.advance({ checkpoint in
                failpoints?.pass(.logBeforeSign)
                let note = signer.sign(checkpoint)
                failpoints?.pass(.logAfterSign)
                if note == nil {
                    metrics.failed()
                    Log.event(.logUnsigned)
                }
                return note
            })
        else { return }
        failpoints?.pass(.logAfterCommit)
        try await log.publish(batch)
        failpoints?.pass(.logAfterPublish)
        metrics.sequenced(batch, at: systemTime())
    }

    /// What came of comparing the log with what is held of it outside.
    private enum Comparison { case same, other, unread }

    private func compare() async -> Comparison {
        for anchor in anchors {
            do {
                guard let note = try await anchor.newest() else { continue }
                guard try await isOurs(note) else {
                    metrics.refused()
                    Log.event(.logMismatch, .code("anchor", anchor.name), .logRunbook)
                    return .other
                }
            } catch {
                metrics.failed()
                Log.event(.logAnchorUnread, .code("anchor", anchor.name))
                return .unread
            }
        }
        return await isWhatWitnessesSaw() ? .same : .other
    }

    /// Whether no witness has seen another log. Who does not answer stops nothing, unless it has
    /// contradicted before.
    private func isWhatWitnessesSaw() async -> Bool {
        guard let witnesses else { return true }
        do throws(StoreFailure) {
            guard try await witnesses.agree() else {
                metrics.refused()
                Log.event(.logMismatch, .code("anchor", "witness"), .logRunbook)
                return false
            }
            return true
        } catch {
            metrics.failed()
            Log.event(.logFailed, .failure("failure", error))
            return false
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
    /// What it holds; `nil` when it was never given any. It throws when it cannot say.
    let newest: @Sendable () async throws -> SignedNote?
}

/// Keeps the mirror up to the newest published checkpoint, until its task is cancelled.
struct LogMirrorKeeper: Sendable {
    let mirror: LogMirror
    let metrics: LogMetrics

    private static let interval = Duration.seconds(1)

    func run() async {
        while !Task.isCancelled {
            do {
                try await mirror.update()
                metrics.mirrored(at: .now)
            } catch {
                Log.event(.logMirrorFailed)
            }
            await pause(Self.interval)
        }
    }
}
