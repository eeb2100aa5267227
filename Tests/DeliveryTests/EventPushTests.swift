import Countersign
import Crypto
import Delivery
import Foundation
import HTTP
import Testing

@testable import CountersignMain

/// Batches of events for tests of their delivery.
enum EventFixture {
    static func event(_ number: Int64, label: String? = nil) -> PlacedEvent {
        PlacedEvent(
            place: EventPlace(number: number),
            id: ID(at: Fixture.now, random: Bytes(repeating: UInt8(number % 250), count: 10)),
            kind: "hold.placed", at: Fixture.now, customerID: Fixture.customerID,
            actionID: Fixture.actionID, credentialID: nil, credentialLabel: label, payeeID: nil,
            document: ["rule": "payee_cooling_off"])
    }

    static func batch(
        _ places: ClosedRange<Int64>, attempt: Int = 1, lease: UInt8 = 4, label: String? = nil
    ) -> EventBatch {
        EventBatch(
            page: EventPage(
                places.map { event($0, label: label) },
                after: EventPlace(number: places.lowerBound - 1)),
            claim: EventPushClaim(
                lease: ID(at: Fixture.now, random: Bytes(repeating: lease, count: 10)),
                after: EventPlace(number: places.lowerBound - 1),
                last: EventPlace(number: places.upperBound), attempt: attempt, at: Fixture.now))
    }
}

extension Bank {
    var eventsURL: HTTPURL? { HTTPURL("http://127.0.0.1:\(server.port)/events") }

    func eventLink(_ other: HTTPClient? = nil) throws -> EventPushLink {
        let client = other ?? client
        return EventPushLink(
            url: try #require(eventsURL), signer: try signer(), retry: .standard,
            entropy: .openSSL,
            transport: { request async throws(TransportFailure) in try await client.send(request) })
    }

    /// The places of the events in the stand-in's books, in their order.
    func recordedEvents() -> [String] {
        ReceivedEvents.all(inJournal: journal).compactMap { $0["cursor"]?.text }
    }
}

@Suite struct `Sending events` {
    private let most = EntropySource { Bytes(repeating: 0xFF, count: $0) }

    private func link(
        _ key: Ed25519PrivateKey,
        _ transport: @escaping HTTPTransport
    ) throws -> EventPushLink {
        EventPushLink(
            url: try #require(HTTPURL("https://bank.example/events")),
            signer: try #require(MessageSigner(key: key, keyID: "service-1", entropy: .openSSL)),
            retry: .standard, entropy: most, transport: transport)
    }

    @Test func `posts a page of the feed under the name of the batch, signed as an order`()
        async throws
    {
        let key = try Ed25519PrivateKey.generate()
        let sent = Locked<[HTTPRequest]>([])
        let link = try link(key) { request in
            sent.withLock { $0.append(request) }
            return Fixture.answer("anything", status: 204)
        }
        let batch = EventFixture.batch(8...10)
        #expect(await link.deliver(batch) == .arrived)
        let request = try #require(sent.current.first)
        #expect(request.method == .post)
        #expect(request.body == batch.page.json.encoded)
        let body = try #require(SignedJSON.decode(request.body))
        #expect(body["next_cursor"] == "10")
        #expect(body["events"]?.elements.map { $0["cursor"] } == ["8", "9", "10"])
        #expect(
            request.fields.first { $0.name == "Idempotency-Key" }?.value == #""8-10""#)
        let verifier = MessageVerifier(
            keys: ["service-1": .ed25519(key.publicKey)], isFirstUse: { _, _ in true })
        func verify(_ body: Bytes, _ url: HTTPURL) throws {
            try verifier.verify(
                SignedParts(.request(method: "POST", url: url), fields: request.fields),
                body: body, now: Fixture.now)
        }
        #expect(throws: Never.self) { try verify(request.body, request.url) }
        #expect(throws: (any Error).self) { try verify(request.body + [32], request.url) }
        // Taken for an order at another address it is nothing.
        let orders = try #require(HTTPURL("https://bank.example/executions"))
        #expect(throws: (any Error).self) { try verify(request.body, orders) }
    }

    @Test(arguments: [199, 300, 302, 400, 401, 404, 409, 413, 500, 503])
    func `takes no status but a 2xx for an arrival`(status: Int) async throws {
        let link = try link(.generate()) { _ in Fixture.answer("{}", status: status) }
        #expect(
            await link.deliver(EventFixture.batch(1...1))
                == .retry(after: Seconds(1), cause: .status))
    }

    @Test func `waits longer with each attempt, as for orders`() async throws {
        let link = try link(.generate()) { _ throws(TransportFailure) in throw .timeout }
        for (attempt, seconds) in [(1, 1), (4, 8), (99, 300)] as [(Int, Int64)] {
            #expect(
                await link.deliver(EventFixture.batch(1...1, attempt: attempt))
                    == .retry(after: Seconds(seconds), cause: .timeout))
        }
    }
}

/// One feed in memory, given out as the port says.
final class MemoryEventQueue: EventPushQueue {
    struct State {
        var position: Int64 = 0
        let last: Int64
        var attempt = 0
        var underWay = false
        var failures: [StoreFailure] = []
        /// Of reading a batch that was claimed.
        var batchFailures: [StoreFailure] = []
        var leaseIsLost = false
    }

    let state: Locked<State>

    init(_ last: Int64) { state = Locked(State(last: last)) }

    var isEmpty: Bool { state.withLock { $0.position == $0.last } }

    func claim(
        limit: Int, lease: Seconds
    ) async throws(StoreFailure) -> EventPushStanding {
        let result: Result<EventPushStanding, StoreFailure> = state.withLock { state in
            if let failure = state.failures.popLast() { return .failure(failure) }
            var claim: EventPushClaim?
            if !state.underWay, state.position < state.last {
                state.underWay = true
                state.attempt += 1
                let end = min(state.position + Int64(limit), state.last)
                claim =
                    EventFixture.batch(
                        state.position + 1...end, attempt: state.attempt
                    ).claim
            }
            return .success(
                EventPushStanding(
                    waiting: Int(state.last - state.position), lag: Seconds(7), claim: claim))
        }
        return try result.get()
    }

    func batch(_ claim: EventPushClaim) async throws(StoreFailure) -> EventBatch {
        let failure = state.withLock { state in
            let failure = state.batchFailures.popLast()
            // Its lease runs out.
            if failure != nil { state.underWay = false }
            return failure
        }
        if let failure { throw failure }
        return EventFixture.batch(
            claim.after.number + 1...claim.last.number, attempt: claim.attempt)
    }

    func settle(
        _ batch: EventBatch, _ outcome: EventPushOutcome
    ) async throws(StoreFailure) -> Bool {
        state.withLock { state in
            state.underWay = false
            if state.leaseIsLost {
                state.leaseIsLost = false
                return false
            }
            if outcome == .arrived {
                state.position = batch.page.next.number
                state.attempt = 0
            }
            return true
        }
    }
}

@Suite struct `The worker that sends events` {
    private func run(
        _ queue: MemoryEventQueue, workers: Int = 1,
        events: Locked<[EventPushWorker.Event]> = Locked([]),
        deliver: @escaping @Sendable (EventBatch) async -> EventPushOutcome
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    let worker = EventPushWorker(
                        queue: queue,
                        options: .init(lease: Seconds(30), pollInterval: .zero),
                        deliver: deliver, sleep: { _ in await Task.yield() },
                        report: { event in events.withLock { $0.append(event) } })
                    let task = Task { await worker.run() }
                    while !queue.isEmpty { await Task.yield() }
                    task.cancel()
                    await task.value
                }
            }
        }
    }

    @Test func `sends all in order, also when some batches need several attempts`() async {
        let queue = MemoryEventQueue(250)
        let arrived = Locked<[Int64]>([])
        let attempts = Locked(0)
        let events = Locked<[EventPushWorker.Event]>([])
        await run(queue, workers: 3, events: events) { batch in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            await Task.yield()
            if attempt.isMultiple(of: 2) { return .retry(after: Seconds(1), cause: .timeout) }
            arrived.withLock { $0 += batch.page.events.map(\.place.number) }
            return .arrived
        }
        #expect(arrived.current == Array(1...250))
        let outcomes = events.current.compactMap(\.outcome)
        #expect(outcomes.count { $0 == "arrived" } == 3)
        #expect(outcomes.count { $0 == "retry" } == 2)
        #expect(Set(outcomes).isSubset(of: EventPushWorker.Event.outcomes))
    }

    @Test func `goes on after failures of the queue and a lost lease`() async {
        let queue = MemoryEventQueue(5)
        queue.state.withLock { state in
            state.failures = [.unavailable, .outcomeUnknown]
            state.leaseIsLost = true
        }
        let events = Locked<[EventPushWorker.Event]>([])
        await run(queue, events: events) { _ in .arrived }
        #expect(
            events.current.compactMap(\.outcome) == [
                "queue_failed", "queue_failed", "lease_lost", "arrived",
            ])
        let first = events.current.compactMap { event -> Int? in
            if case .standing(let waiting, _) = event { waiting } else { nil }
        }
        #expect(first.first == 5)
    }

    @Test func `tells what waits before it reads the batch, which may be what is stuck`() async {
        let queue = MemoryEventQueue(5)
        queue.state.withLock { $0.batchFailures = [.internalFailure(code: "event_batch")] }
        let events = Locked<[EventPushWorker.Event]>([])
        await run(queue, events: events) { _ in .arrived }
        let told = events.current.prefix(2)
        guard told.count == 2, case .standing(5, Seconds(7)) = told[0],
            case .queueFailed(.internalFailure("event_batch")) = told[1]
        else {
            Issue.record("\(told)")
            return
        }
    }
}

@Suite struct `Events at the core-banking stand-in` {
    @Test func `are recorded once and in order, whatever comes twice`() async throws {
        let bank = try Bank()
        let link = try bank.eventLink()
        for places in [1...3, 1...3, 2...5, 6...6] as [ClosedRange<Int64>] {
            #expect(await link.deliver(EventFixture.batch(places)) == .arrived)
        }
        #expect(bank.recordedEvents() == ["1", "2", "3", "4", "5", "6"])
        // One that would leave a gap is not taken.
        #expect(
            await link.deliver(EventFixture.batch(8...9)).isRetry(.status))
        #expect(bank.recordedEvents().count == 6)
        await bank.stop()
    }

    @Test func `are kept over a restart, and a gap in the books is damage`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-events-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "journal").path
        func record(_ places: ClosedRange<Int64>) async throws -> Bool {
            let ledger = try Ledger(path: path)
            let batch = EventFixture.batch(places).page.json
            let entry = try await ledger.record(try #require(ReceivedEvents(batch: batch)))
            try await ledger.close()
            if case .recorded = entry { return true }
            return false
        }
        #expect(try await record(1...2))
        #expect(try await record(2...3))
        #expect(try await record(5...5) == false)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains(#""cursor":"3""#) && !text.contains(#""cursor":"5""#))
        try text.replacing(#""cursor":"3""#, with: #""cursor":"4""#)
            .write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: JournalFailure.self) { try Ledger(path: path) }
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `take a batch of a hundred long ones`() async throws {
        let bank = try Bank()
        let label = String(repeating: "\u{1F512}", count: 64)
        let batch = EventFixture.batch(1...100, label: label)
        #expect(try await bank.eventLink().deliver(batch) == .arrived)
        #expect(bank.recordedEvents().count == 100)
        await bank.stop()
    }

    @Test func `are believed only from the service, under their own name`() async throws {
        let bank = try Bank()
        let url = try #require(bank.eventsURL)
        let body = EventFixture.batch(1...2).page.json.encoded
        func status(_ key: Ed25519PrivateKey?, _ name: String, _ body: Bytes) async throws -> Int {
            let request = try bank.signer(key).post(
                body, to: url, idempotencyKey: name, at: Fixture.now)
            return try await bank.client.send(request).status
        }
        #expect(try await status(.generate(), "1-2", body) == 401)
        #expect(try await status(nil, "1-3", body) == 422)
        #expect(try await status(nil, "1-2", Bytes(#"{"events":[]}"#.utf8)) == 422)
        #expect(bank.recordedEvents().isEmpty)
        #expect(try await status(nil, "1-2", body) == 200)
        await bank.stop()
    }

    @Test func `arrive in order through a receiver that fails, with two that send`() async throws {
        let bank = try Bank(
            faults: [], eventFaults: [.failBefore, .failAfter, .none, .failAfter, .failBefore])
        let queue = MemoryEventQueue(450)
        let link = try bank.eventLink()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    let worker = EventPushWorker(
                        queue: queue, options: .init(lease: Seconds(30), pollInterval: .zero),
                        deliver: { await link.deliver($0) },
                        sleep: { _ in await pause(.milliseconds(1)) }, report: { _ in })
                    let task = Task { await worker.run() }
                    while !queue.isEmpty { await pause(.milliseconds(2)) }
                    task.cancel()
                    await task.value
                }
            }
        }
        #expect(bank.recordedEvents() == (1...450).map { String($0) })
        await bank.stop()
    }
}

extension EventPushOutcome {
    fileprivate func isRetry(_ expected: UnsettledCause) -> Bool {
        if case .retry(_, let cause) = self { cause == expected } else { false }
    }
}
