package import Countersign
import Crypto

/// Sends orders and announcements to core banking and classes what comes back.
///
/// Only a 2xx answer with the agreed body decides an order. Everything else leaves it undecided, 4xx
/// included: a proxy, a wrong certificate or a wrong clock can cause any of them, and an order refused
/// by mistake is a payment lost. Sending again is safe, because core banking does an action ID once.
///
/// After ``RetryPolicy/sendingMax`` the order is *unknown*: it is never sent again, only asked about.
/// Then a 404 still decides nothing. It says that core banking has not seen the order *yet*: a copy may
/// wait in a proxy or in a core banking node that was cut off, and be carried out after the 404. If the
/// order were closed on the strength of it, the customer could be told "not executed", sign again, and
/// pay twice. So the order stays unknown, the metric `not_seen` alarms, and people who can look into
/// core banking's books settle it there; the next question then gets the answer.
package struct CoreBankingLink: Sendable {
    private let ordersURL: HTTPURL
    private let credentialsURL: HTTPURL
    private let signer: MessageSigner
    private let retry: RetryPolicy
    private let entropy: EntropySource
    private let promise: PromiseMaker
    private let transport: HTTPTransport

    /// Takes where and how to send.
    ///
    /// - Parameters:
    ///   - url: Where orders are posted; `nil` is returned when it has a query.
    ///   - signer: Signs what is posted.
    ///   - retry: When to try again.
    ///   - entropy: Draws the delays.
    ///   - promise: Promises the records of approvals.
    ///   - transport: Sends.
    package init?(
        url: HTTPURL, signer: MessageSigner, retry: RetryPolicy, entropy: EntropySource,
        promise: @escaping PromiseMaker, transport: @escaping HTTPTransport
    ) {
        guard let credentialsURL = url.appending("credentials") else { return nil }
        ordersURL = url
        self.credentialsURL = credentialsURL
        self.signer = signer
        self.retry = retry
        self.entropy = entropy
        self.promise = promise
        self.transport = transport
    }

    /// Does what a claim calls for and says what came of it; it never throws, since not to know is an
    /// outcome.
    package func deliver(_ claim: Claim) async -> DeliveryOutcome {
        switch (claim.item, claim.phase) {
        case (.credential(let announcement), _): await announce(announcement, claim)
        case (.order(let order), .push): await push(order, claim)
        case (.order(let order), .reconcile): await ask(order, claim)
        }
    }

    private func push(_ order: ExecutionOrder, _ claim: Claim) async -> DeliveryOutcome {
        guard let body = OrderDocument.encode(order, promise: promise) else {
            return unsettled(claim, .inconsistentOrder)
        }
        return await exchange { () throws(Unsettled) in
            try await post(body, to: ordersURL, key: order.actionID.text, claim)
        } decide: { answer in
            Self.outcome(of: answer, order)
        } otherwise: { cause in
            unsettled(claim, cause)
        }
    }

    private func announce(_ announcement: CredentialAnnouncement, _ claim: Claim) async
        -> DeliveryOutcome
    {
        await exchange { () throws(Unsettled) in
            try await post(
                OrderDocument.encode(announcement), to: credentialsURL,
                key: announcement.credentialID.text, claim)
        } decide: { _ in
            .delivered
        } otherwise: { cause in
            // An announcement is repeated for as long as it takes: nothing is in doubt meanwhile.
            .retry(after: retry.delay(after: claim.attempt, entropy: entropy), cause: cause)
        }
    }

    private func ask(_ order: ExecutionOrder, _ claim: Claim) async -> DeliveryOutcome {
        await exchange(notFound: .notSeen) { () throws(Unsettled) in
            guard let url = ordersURL.appending(order.actionID.text) else {
                preconditionFailure("an ID is made of unreserved characters")
            }
            let request = HTTPRequest(.get, url, fields: [HTTPField("Accept", "application/json")])
            return try await send(request)
        } decide: { answer in
            Self.outcome(of: answer, order)
        } otherwise: { cause in
            .unknown(
                askAfter: retry.delay(after: claim.attempt, entropy: entropy), cause: cause)
        }
    }

    /// An order that was not decided: to be sent again while that is allowed, else unknown.
    private func unsettled(_ claim: Claim, _ cause: UnsettledCause) -> DeliveryOutcome {
        let delay = retry.delay(after: claim.attempt, entropy: entropy)
        return retry.maySendAgain(claim)
            ? .retry(after: delay, cause: cause) : .unknown(askAfter: delay, cause: cause)
    }

    private static func outcome(of answer: HTTPResponse, _ order: ExecutionOrder)
        -> DeliveryOutcome?
    {
        switch Receipt(answer.body, actionID: order.actionID) {
        case .executed(let reference): .executed(reference: reference, raw: answer.body)
        case .refused(let reason): .refused(reason: reason, raw: answer.body)
        case nil: nil
        }
    }

    private struct Unsettled: Error {
        let cause: UnsettledCause
    }

    /// Makes one exchange and lets only a 2xx answer decide.
    private func exchange(
        notFound: UnsettledCause = .status,
        _ send: () async throws(Unsettled) -> HTTPResponse,
        decide: (HTTPResponse) -> DeliveryOutcome?,
        otherwise: (UnsettledCause) -> DeliveryOutcome
    ) async -> DeliveryOutcome {
        do throws(Unsettled) {
            let answer = try await send()
            guard (200..<300).contains(answer.status) else {
                return otherwise(answer.status == 404 ? notFound : .status)
            }
            return decide(answer) ?? otherwise(.unreadableAnswer)
        } catch {
            return otherwise(error.cause)
        }
    }

    private func post(_ body: Bytes, to url: HTTPURL, key: String, _ claim: Claim)
        async throws(Unsettled) -> HTTPResponse
    {
        let request: HTTPRequest
        do throws(OpenSSLFailure) {
            request = try signer.post(body, to: url, idempotencyKey: key, at: claim.claimedAt)
        } catch {
            throw Unsettled(cause: .signingFailed)
        }
        return try await send(request)
    }

    private func send(_ request: HTTPRequest) async throws(Unsettled) -> HTTPResponse {
        do throws(TransportFailure) {
            return try await transport(request)
        } catch {
            throw Unsettled(cause: UnsettledCause(error))
        }
    }
}
