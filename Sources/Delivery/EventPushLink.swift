package import Countersign
import Crypto

/// Sends batches of events, signed as orders are, and classes what comes back.
///
/// Any 2xx says that the receiver has the batch; everything else leaves it to be sent again, for as
/// long as it takes.
package struct EventPushLink: Sendable {
    private let url: HTTPURL
    private let signer: MessageSigner
    private let retry: RetryPolicy
    private let entropy: EntropySource
    private let transport: HTTPTransport

    /// The most events of one batch; the database holds the same bound.
    package static let batchMax = 100

    /// - Parameters:
    ///   - url: Where batches are posted.
    ///   - signer: Signs them.
    ///   - retry: When to try again.
    ///   - entropy: Draws the delays.
    ///   - transport: Sends.
    package init(
        url: HTTPURL, signer: MessageSigner, retry: RetryPolicy, entropy: EntropySource,
        transport: @escaping HTTPTransport
    ) {
        self.url = url
        self.signer = signer
        self.retry = retry
        self.entropy = entropy
        self.transport = transport
    }

    /// Sends a batch and says what came of it; it never throws, since not to know is an outcome.
    package func deliver(_ batch: EventBatch) async -> EventPushOutcome {
        let request: HTTPRequest
        do throws(OpenSSLFailure) {
            request = try signer.post(
                batch.page.json.encoded, to: url, idempotencyKey: batch.id, at: batch.claim.at)
        } catch {
            return retry(batch, .signingFailed)
        }
        do throws(TransportFailure) {
            let answer = try await transport(request)
            return (200..<300).contains(answer.status) ? .arrived : retry(batch, .status)
        } catch {
            return retry(batch, UnsettledCause(error))
        }
    }

    private func retry(_ batch: EventBatch, _ cause: UnsettledCause) -> EventPushOutcome {
        .retry(after: retry.delay(after: batch.claim.attempt, entropy: entropy), cause: cause)
    }
}
