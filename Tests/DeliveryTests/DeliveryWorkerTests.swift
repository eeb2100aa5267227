import Countersign
import Delivery
import Testing

@Suite struct `A delivery worker` {
    private let done = DeliveryOutcome.executed(reference: "T-1", raw: [])

    @Test func `delivers everything that is due, then stops when cancelled`() async {
        let queue = MemoryQueue(Array(repeating: .order(Fixture.order()), count: 20))
        await run(queue) { _ in done }
        #expect(queue.outcomes == Array(repeating: done, count: 20))
    }

    @Test func `never has more under way than it has slots, nor claims more`() async {
        let queue = MemoryQueue(Array(repeating: .order(Fixture.order()), count: 50))
        let underWay = Locked((now: 0, most: 0))
        await run(queue, slots: 3) { _ in
            underWay.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            for _ in 0..<20 { await Task.yield() }
            underWay.withLock { $0.now -= 1 }
            return done
        }
        #expect(underWay.current.most <= 3)
        #expect(queue.state.current.limits.allSatisfy { (1...3).contains($0) })
        #expect(queue.outcomes.allSatisfy { $0 == done })
    }

    @Test func `settles what is under way before it stops`() async {
        let queue = MemoryQueue([.order(Fixture.order())])
        let (started, startedContinuation) = AsyncStream.makeStream(of: Void.self)
        let (release, releaseContinuation) = AsyncStream.makeStream(of: Void.self)
        let worker = worker(queue, events: Locked([])) { _ in
            startedContinuation.finish()
            // Of an unstructured task, so that it waits although the worker is cancelled.
            await Task { for await _ in release {} }.value
            return done
        }
        let task = Task { await worker.run() }
        for await _ in started {}
        task.cancel()
        #expect(queue.outcomes == [nil])
        releaseContinuation.finish()
        await task.value
        #expect(queue.outcomes == [done])
    }

    @Test func `tries again after a delay, then only asks, until core banking answers`()
        async throws
    {
        let queue = MemoryQueue([.order(Fixture.order())])
        let log = Locked<[String]>([])
        let link = try Fixture.link { request in
            let asks = log.withLock {
                $0.append(request.method.rawValue)
                return $0.filter { $0 == "GET" }.count
            }
            return asks == 3
                ? Fixture.answer(#"{"status":"executed","reference":"T-9"}"#)
                : Fixture.answer("", status: asks == 0 ? 503 : 404)
        }
        let events = Locked<[DeliveryWorker.Event]>([])
        let worker = DeliveryWorker(
            queue: queue,
            options: .init(slots: 1, lease: Seconds(30), pollInterval: .zero),
            deliver: { await link.deliver($0) },
            sleep: { _ in
                queue.advance(Seconds(301))
                await Task.yield()
            }, report: { event in events.withLock { $0.append(event) } })
        let task = Task { await worker.run() }
        while queue.outcomes[0] == nil { await Task.yield() }
        task.cancel()
        await task.value
        let methods = log.current
        // Sent for 24 hours in steps of 301 s, and after the first question never again.
        let posts = methods.prefix { $0 == "POST" }.count
        #expect(posts == 289)
        #expect(Array(methods.dropFirst(posts)) == ["GET", "GET", "GET"])
        guard case .executed("T-9", _) = queue.outcomes[0] else {
            Issue.record("not executed")
            return
        }
    }

    @Test func `reports a lost lease and goes on`() async {
        let queue = MemoryQueue([.order(Fixture.order()), .order(Fixture.order())])
        let isFirst = Locked(true)
        let events = Locked<[DeliveryWorker.Event]>([])
        await run(queue, slots: 1, events: events) { _ in
            let expires = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            // Slower than the lease, while another worker takes the item over.
            if expires {
                queue.advance(Seconds(31))
                let other = try? await queue.claim(limit: 1, lease: Seconds(30))
                if let claim = other?.first {
                    _ = try? await queue.settle(claim, .refused(reason: "other", raw: []))
                }
            }
            return done
        }
        #expect(queue.outcomes == [.refused(reason: "other", raw: []), done])
        let lost = events.current.filter { if case .leaseLost = $0 { true } else { false } }
        #expect(lost.count == 1)
        #expect(Set(events.current.map(\.outcome)) == ["lease_lost", "executed"])
    }

    @Test func `goes on when the queue fails`() async {
        let queue = MemoryQueue([.order(Fixture.order())])
        queue.state.withLock { $0.failures = [.unavailable, .outcomeUnknown] }
        let events = Locked<[DeliveryWorker.Event]>([])
        await run(queue, events: events) { _ in done }
        #expect(queue.outcomes == [done])
        let failed = events.current.filter { if case .queueFailed = $0 { true } else { false } }
        #expect(failed.count == 2)
    }

    @Test func `many of them deliver each item once`() async {
        let queue = MemoryQueue(Array(repeating: .order(Fixture.order()), count: 200))
        let deliveries = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    await run(queue) { _ in
                        deliveries.withLock { $0 += 1 }
                        await Task.yield()
                        return done
                    }
                }
            }
        }
        #expect(queue.outcomes.allSatisfy { $0 == done })
        #expect(deliveries.current == 200)
    }

    private func worker(
        _ queue: MemoryQueue, slots: Int = 4, events: Locked<[DeliveryWorker.Event]>,
        deliver: @escaping @Sendable (Claim) async -> DeliveryOutcome
    ) -> DeliveryWorker {
        DeliveryWorker(
            queue: queue,
            options: .init(slots: slots, lease: Seconds(30), pollInterval: .zero),
            deliver: deliver, sleep: { _ in await Task.yield() },
            report: { event in events.withLock { $0.append(event) } })
    }

    /// Runs a worker until the queue is empty.
    private func run(
        _ queue: MemoryQueue, slots: Int = 4,
        events: Locked<[DeliveryWorker.Event]> = Locked([]),
        deliver: @escaping @Sendable (Claim) async -> DeliveryOutcome
    ) async {
        let worker = worker(queue, slots: slots, events: events, deliver: deliver)
        let task = Task { await worker.run() }
        while queue.outcomes.contains(nil) { await Task.yield() }
        task.cancel()
        await task.value
    }
}
