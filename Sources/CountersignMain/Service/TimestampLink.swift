import Countersign
import Crypto
import Delivery
import Postgres

/// An authority that says at what time a checkpoint was there (RFC 3161).
struct TimestampAuthority: Sendable {
    /// Host and path: what evidence, logs and metrics call it.
    let name: String
    let url: HTTPURL

    init(_ url: HTTPURL) {
        self.url = url
        name = url.authority + (url.target == "/" ? "" : url.target)
    }
}

/// Has checkpoints stamped, and keeps what comes back when it proves anything.
struct TimestampLink: Sendable {
    /// What came of it.
    enum Outcome: Hashable, Sendable {
        /// The checkpoint of that size was there at that time.
        case stamped(size: Int64, at: Instant)
        case failed(Cause)
    }

    /// Why there is no timestamp; the raw value is a word for logs and metrics.
    enum Cause: String, Sendable, CaseIterable, ExchangeCause {
        case timeout, tls
        case connectionFailed = "connection_failed"
        case answerTooLarge = "answer_too_large"
        case broken
        /// A status but 200, or another media type.
        case status
        case malformed, rejected, imprint, nonce, signature, signer, policy
        /// The authority's time is not ours.
        case clock
        /// The database did not do its part.
        case store
    }

    let testimony: PostgresLogTestimony
    let anchors: [Certificate]
    /// Under which a timestamp may be made; none for every one.
    let policies: [String]
    let entropy: EntropySource
    let now: @Sendable () -> Instant
    let transport: HTTPTransport

    /// Has one checkpoint stamped; it never throws, since to have nothing is an outcome.
    ///
    /// What is stamped is the note with the log's own signatures: the log's key had signed by then.
    func stamp(
        _ published: PostgresLogTestimony.Published, by authority: TimestampAuthority
    ) async -> Outcome {
        let nonce = entropy(TimestampToken.nonceBytes)
        let answer: HTTPResponse
        do throws(TransportFailure) {
            answer = try await transport(
                HTTPRequest(
                    .post, authority.url,
                    fields: [
                        HTTPField("Content-Type", TimestampToken.queryType),
                        HTTPField("Accept", TimestampToken.replyType),
                    ], body: TimestampToken.query(over: published.encoded, nonce: nonce)))
        } catch {
            return .failed(Cause(error))
        }
        guard answer.status == 200, answer.field("Content-Type") == TimestampToken.replyType else {
            return .failed(.status)
        }
        let at: Instant
        do throws(TimestampFault) {
            let proven = try TimestampToken.verify(
                response: answer.body, over: published.encoded, nonce: nonce, anchors: anchors)
            try proven.demand(policies: policies)
            at = proven.at
        } catch {
            return .failed(Cause(error))
        }
        // The answer repeats a nonce, so it was made since the question.
        guard OutsideClock.isTimely(at, at: now()) else { return .failed(.clock) }
        do throws(StoreFailure) {
            try await testimony.record(
                timestamp: answer.body, of: published.size, by: authority.name, at: at)
        } catch {
            return .failed(.store)
        }
        return .stamped(size: published.size, at: at)
    }
}

extension TimestampLink.Outcome {
    /// A word for metrics.
    var word: String {
        switch self {
        case .stamped: "stamped"
        case .failed(let cause): cause.rawValue
        }
    }

    /// Every word there is.
    static let words = ["stamped"] + TimestampLink.Cause.allCases.map(\.rawValue)
}

extension TimestampLink.Cause {
    fileprivate init(_ fault: TimestampFault) {
        self =
            switch fault {
            case .malformed: .malformed
            case .rejected: .rejected
            case .imprint: .imprint
            case .nonce: .nonce
            case .signature: .signature
            case .signer: .signer
            case .policy: .policy
            }
    }
}
