import Countersign
import Crypto
import Delivery
import Testing

@Suite struct `Delivering to core banking` {
    private let most = EntropySource { Bytes(repeating: 0xFF, count: $0) }
    private let executed = #"{"status":"executed","reference":"T-1"}"#
    private let refused = #"{"status":"refused","reason":"closed"}"#

    @Test func `a 2xx with the agreed body decides, and is kept byte for byte`() async throws {
        for status in [200, 201, 299] {
            #expect(
                try await outcome(Fixture.answer(executed, status: status))
                    == .executed(reference: "T-1", raw: Bytes(executed.utf8)))
        }
        #expect(
            try await outcome(Fixture.answer(refused))
                == .refused(reason: "closed", raw: Bytes(refused.utf8)))
    }

    @Test(arguments: [199, 300, 301, 307, 400, 401, 403, 404, 409, 422, 429, 500, 503])
    func `no other status decides, whatever its body`(status: Int) async throws {
        for body in [executed, refused] {
            #expect(
                try await outcome(Fixture.answer(body, status: status))
                    == .retry(after: Seconds(1), cause: .status))
        }
    }

    @Test func `a body that is not the agreed one decides nothing`() async throws {
        #expect(
            try await outcome(Fixture.answer("<html>"))
                == .retry(after: Seconds(1), cause: .unreadableAnswer))
    }

    @Test(
        arguments: [
            (.timeout, .timeout), (.connectionFailed, .connectionFailed), (.tls, .tls),
            (.answerTooLarge, .answerTooLarge), (.other(code: 56), .broken),
            (.notAllowed, .connectionFailed),
        ] as [(TransportFailure, UnsettledCause)])
    func `no answer decides nothing`(failure: TransportFailure, cause: UnsettledCause) async throws
    {
        let link = try link { _ throws(TransportFailure) in throw failure }
        #expect(
            await link.deliver(Fixture.claim(attempt: 4))
                == .retry(after: Seconds(8), cause: cause))
    }

    @Test func `after the last retry an order is unknown, and an announcement goes on`()
        async throws
    {
        let link = try link { _ in Fixture.answer("", status: 500) }
        let old = Seconds(86_400)
        #expect(
            await link.deliver(Fixture.claim(attempt: 99, age: old))
                == .unknown(askAfter: Seconds(300), cause: .status))
        let announcement = DeliveryItem.credential(Fixture.announcement())
        #expect(
            await link.deliver(Fixture.claim(announcement, attempt: 99, age: old))
                == .retry(after: Seconds(300), cause: .status))
    }

    @Test func `an unknown order is asked about and never sent`() async throws {
        let requests = Locked<[HTTPRequest]>([])
        let link = try link { request in
            requests.withLock { $0.append(request) }
            return Fixture.answer(executed)
        }
        // Not even when the retry policy would allow it again.
        #expect(
            await link.deliver(Fixture.claim(phase: .reconcile))
                == .executed(reference: "T-1", raw: Bytes(executed.utf8)))
        let request = try #require(requests.current.first)
        #expect(requests.current.count == 1)
        #expect(request.method == .get)
        #expect(
            request.url.text
                == "https://core.bank.example/executions/\(Fixture.actionID)")
        #expect(request.body.isEmpty)
    }

    @Test(
        arguments: [
            (404, .notSeen), (500, .status), (200, .unreadableAnswer), (302, .status),
        ] as [(Int, UnsettledCause)])
    func `an unknown order stays unknown until core banking knows`(
        status: Int, cause: UnsettledCause
    ) async throws {
        let link = try link { _ in Fixture.answer("{}", status: status) }
        #expect(
            await link.deliver(Fixture.claim(phase: .reconcile, attempt: 3))
                == .unknown(askAfter: Seconds(4), cause: cause))
    }

    @Test func `an order that contradicts its message is not sent`() async throws {
        let link = try link { _ throws(TransportFailure) in
            Issue.record("sent")
            throw .notAllowed
        }
        let order = Fixture.order(message: Fixture.message(["customer_id": "c-2"]))
        #expect(
            await link.deliver(Fixture.claim(.order(order)))
                == .retry(after: Seconds(1), cause: .inconsistentOrder))
    }

    @Test func `orders and announcements are posted signed, with their IDs as keys`() async throws {
        let requests = Locked<[HTTPRequest]>([])
        let link = try link { request in
            requests.withLock { $0.append(request) }
            return Fixture.answer("ok")
        }
        _ = await link.deliver(Fixture.claim())
        let announcement = await link.deliver(
            Fixture.claim(.credential(Fixture.announcement())))
        #expect(announcement == .delivered)
        let sent = requests.current
        #expect(
            sent.map(\.url.text) == [
                "https://core.bank.example/executions",
                "https://core.bank.example/executions/credentials",
            ])
        let keys = sent.map { $0.fields.first { $0.name == "Idempotency-Key" }?.value }
        #expect(keys == ["\"\(Fixture.actionID)\"", "\"\(Fixture.credentialID)\""])
        #expect(sent.allSatisfy { $0.fields.contains { $0.name == "Signature" } })
        #expect(sent.first?.body == OrderDocument.encode(Fixture.order()))
        #expect(sent.last?.body == OrderDocument.encode(Fixture.announcement()))
    }

    @Test func `each attempt has a nonce of its own`() async throws {
        let inputs = Locked<Set<String>>([])
        let link = try link { request in
            let input = request.fields.first { $0.name == "Signature-Input" }?.value ?? ""
            inputs.withLock { _ = $0.insert(input) }
            return Fixture.answer("", status: 500)
        }
        for _ in 0..<10 { _ = await link.deliver(Fixture.claim()) }
        #expect(inputs.current.count == 10)
    }

    private func link(_ transport: @escaping HTTPTransport) throws -> CoreBankingLink {
        try Fixture.link(entropy: most, transport: transport)
    }

    private func outcome(_ answer: HTTPResponse) async throws -> DeliveryOutcome {
        await (try link { _ in answer }).deliver(Fixture.claim())
    }
}
