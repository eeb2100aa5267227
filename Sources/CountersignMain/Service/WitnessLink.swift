import Countersign
import Delivery
import Evidence
import Postgres

/// A witness that is asked: one of the trust policy with a URL.
struct LogWitness: Sendable {
    /// As the policy calls it.
    let name: String
    let key: VerifierKey
    /// Of `add-checkpoint`.
    let url: HTTPURL
}

/// Shows checkpoints to witnesses, and keeps what they say. Source: C2SP tlog-witness.
///
/// Only what was published is ever shown, and a log without leaves, which is the beginning of every log.
struct WitnessLink: Sendable {
    /// A checkpoint to show.
    struct Shown: Sendable {
        let size: Int64
        let note: SignedNote
        /// Whether the database has it, so that cosignatures can be kept.
        let isPublished: Bool

        init(_ published: PostgresLogTestimony.Published) {
            size = published.size
            note = published.note
            isPublished = true
        }

        /// The checkpoint of a log without leaves.
        init(empty note: SignedNote) {
            size = 0
            self.note = note
            isPublished = false
        }
    }

    /// What came of it.
    enum Outcome: Hashable, Sendable {
        /// It has cosigned the checkpoint of that size, by its own clock at that time.
        case cosigned(size: Int64, at: Instant)
        /// It has seen another log than this one.
        case contradicted(Contradiction)
        /// Nothing is known.
        case failed(Cause)
    }

    /// How a witness contradicts; the raw value is a word for logs and metrics.
    enum Contradiction: String, Sendable, CaseIterable {
        /// What it has seen is not the beginning of this log.
        case inconsistent
        /// It has seen more of this log than was ever published here.
        case larger
    }

    /// Why nothing is known; the raw value is a word for logs and metrics.
    enum Cause: String, Sendable, CaseIterable, ExchangeCause {
        case timeout, tls
        case connectionFailed = "connection_failed"
        case answerTooLarge = "answer_too_large"
        case broken
        case unknownLog = "unknown_log"
        case unknownKey = "unknown_key"
        case badRequest = "bad_request"
        case status, malformed
        case otherKey = "other_key"
        /// Its clock is too far from ours: its time would count for nothing, and for ever as the newest.
        case clock
        case invalid
        /// The witness learnt of a newer checkpoint twice meanwhile.
        case moved
        /// The database did not do its part.
        case store
    }

    let testimony: PostgresLogTestimony
    let now: @Sendable () -> Instant
    let transport: HTTPTransport

    /// How often one checkpoint is sent: once more with the size that the witness tells.
    private static let attempts = 2

    private struct Failure: Error {
        let cause: Cause
    }

    /// Shows a checkpoint; it never throws, since not to know is an outcome.
    ///
    /// - Parameters:
    ///   - first: The checkpoint; a newer one takes its place when the witness has that already.
    ///   - witness: Whom to show it.
    ///   - known: The size that it cosigned last, as far as is known here.
    /// - Returns: What came of it.
    func show(_ first: Shown, to witness: LogWitness, after known: Int64) async -> Outcome {
        do throws(Failure) {
            var shown = first
            var old = min(known, shown.size)
            for _ in 0..<Self.attempts {
                switch try await ask(witness, shown, old) {
                case .cosigned(let cosignatures):
                    return try await keep(cosignatures, shown, witness)
                case .inconsistent: return .contradicted(.inconsistent)
                case .refused(let refusal): return .failed(Cause(refusal))
                case .knows(let size) where size == old:
                    // The size was right, so what conflicts is the root; else the answer means nothing.
                    return old == shown.size ? .contradicted(.inconsistent) : .failed(.malformed)
                case .knows(let size):
                    if size > shown.size {
                        // Another instance may have shown a newer one; nobody else can.
                        guard let newest = try await published(), size <= newest.size else {
                            return .contradicted(.larger)
                        }
                        shown = newest
                    }
                    old = size
                }
            }
            return .failed(.moved)
        } catch {
            return .failed(error.cause)
        }
    }

    private func ask(
        _ witness: LogWitness, _ shown: Shown, _ old: Int64
    ) async throws(Failure) -> WitnessAnswer {
        let request = WitnessRequest(
            old: old, proof: try await proof(from: old, to: shown.size), note: shown.note)
        do throws(TransportFailure) {
            let answer = try await transport(
                HTTPRequest(
                    .post, witness.url,
                    fields: [HTTPField("Content-Type", "text/plain; charset=utf-8")],
                    body: request.body))
            return WitnessAnswer(
                status: answer.status, type: answer.field("Content-Type"), body: answer.body,
                to: shown.note.text, of: witness.key)
        } catch {
            throw Failure(cause: Cause(error))
        }
    }

    private func proof(from old: Int64, to new: Int64) async throws(Failure) -> [Digest] {
        do throws(StoreFailure) {
            guard let proof = try await testimony.consistency(from: old, to: new) else {
                throw StoreFailure.internalFailure(code: "log_tile")
            }
            return proof
        } catch {
            throw Failure(cause: .store)
        }
    }

    private func published() async throws(Failure) -> Shown? {
        do throws(StoreFailure) {
            return try await testimony.published().map { Shown($0) }
        } catch {
            throw Failure(cause: .store)
        }
    }

    private func keep(
        _ cosignatures: [CosignatureLine], _ shown: Shown, _ witness: LogWitness
    ) async throws(Failure) -> Outcome {
        let now = now()
        // One answer, one row that is there for ever.
        let timely = cosignatures.filter { OutsideClock.isTimely($0.at, at: now) }
        guard let cosignature = timely.max(by: { $0.at < $1.at }) else {
            return .failed(.clock)
        }
        do throws(StoreFailure) {
            if shown.isPublished {
                try await testimony.record(
                    cosignature: cosignature.line, of: shown.size, by: witness.name,
                    at: cosignature.at)
            }
        } catch {
            throw Failure(cause: .store)
        }
        return .cosigned(size: shown.size, at: cosignature.at)
    }
}

extension WitnessLink.Outcome {
    /// A word for metrics.
    var word: String {
        switch self {
        case .cosigned: "cosigned"
        case .contradicted(let contradiction): contradiction.rawValue
        case .failed(let cause): cause.rawValue
        }
    }

    /// Every word there is.
    static let words =
        ["cosigned"] + WitnessLink.Contradiction.allCases.map(\.rawValue)
        + WitnessLink.Cause.allCases.map(\.rawValue)
}

extension WitnessLink.Cause {
    fileprivate init(_ refusal: WitnessAnswer.Refusal) {
        self =
            switch refusal {
            case .unknownLog: .unknownLog
            case .unknownKey: .unknownKey
            case .badRequest: .badRequest
            case .status: .status
            case .malformed: .malformed
            case .otherKey: .otherKey
            case .invalid: .invalid
            }
    }
}
