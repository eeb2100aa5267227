import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Events on their way to the bank` {
    private static let lease = Seconds(30)

    /// A bank in which a customer was locked so many times, each of which is an event.
    private func withEvents(
        _ count: Int, _ body: (EnrolmentWorld, PostgresEventPush) async throws -> Void
    ) async throws {
        try await EnrolmentWorld.with(connections: 8) { world in
            _ = try await world.begin(for: try CustomerID("c-1"))
            try await lock(count, world)
            try await body(world, PostgresEventPush(database: world.database))
        }
    }

    private func lock(_ times: Int, _ world: EnrolmentWorld) async throws {
        for number in 0..<times {
            try await world.test.sql(
                """
                UPDATE countersign.customer
                   SET locked_until = clock_timestamp() + interval '\(number + 1) hours'
                """)
        }
    }

    private func claim(_ queue: PostgresEventPush, _ limit: Int = 3) async throws -> EventBatch? {
        guard let claim = try await queue.claim(limit: limit, lease: Self.lease).claim else {
            return nil
        }
        return try await queue.batch(claim)
    }

    private func places(_ batch: EventBatch?) -> [Int64] {
        batch?.page.events.map(\.place.number) ?? []
    }

    @Test func `go batch by batch, in the order of the feed, until none is left`() async throws {
        try await withEvents(7) { world, queue in
            var seen: [[Int64]] = []
            while let batch = try await claim(queue) {
                #expect(batch.id == "\(places(batch)[0])-\(places(batch).last ?? 0)")
                #expect(batch.claim.attempt == 1)
                seen.append(places(batch))
                #expect(try await queue.settle(batch, .arrived))
                // Once.
                #expect(try await queue.settle(batch, .arrived) == false)
            }
            #expect(seen == [[1, 2, 3], [4, 5, 6], [7]])
            try await lock(1, world)
            #expect(places(try await claim(queue)) == [8])
        }
    }

    @Test func `are one batch at a time, whoever asks`() async throws {
        try await withEvents(4) { world, queue in
            let feed = PostgresEventFeed(database: world.database)
            #expect(try await feed.events(after: .start, limit: 9)?.count == 4)
            let claims = try await atOnce(Array(0..<16)) { _ in
                try await queue.claim(limit: 3, lease: Self.lease)
            }
            let given = claims.compactMap(\.claim)
            #expect(given.count == 1)
            #expect(claims.allSatisfy { $0.waiting == 4 })
            let batch = try await queue.batch(try #require(given.first))
            #expect(try await queue.settle(batch, .arrived))
            #expect(places(try await claim(queue)) == [4])
        }
    }

    @Test func `come again as the same batch when it did not arrive`() async throws {
        try await withEvents(2) { world, queue in
            let first = try #require(try await claim(queue))
            #expect(
                try await queue.settle(first, .retry(after: Seconds(60), cause: .timeout)))
            // Not before its time, and what came meanwhile waits behind it.
            #expect(try await claim(queue) == nil)
            try await lock(5, world)
            #expect(try await queue.claim(limit: 3, lease: Self.lease).waiting == 7)
            try await world.test.sql(
                "UPDATE countersign.event_push SET next_at = clock_timestamp()")
            let second = try #require(try await claim(queue))
            #expect(places(second) == places(first) && second.id == first.id)
            #expect(second.claim.attempt == 2)
            #expect(try await queue.settle(second, .arrived))
            let third = try #require(try await claim(queue))
            #expect(places(third) == [3, 4, 5] && third.claim.attempt == 1)
        }
    }

    @Test func `come again when the lease is over, and whoever was too slow changes nothing`()
        async throws
    {
        try await withEvents(5) { world, queue in
            let slow = try #require(try await claim(queue))
            try await world.test.sql(
                """
                UPDATE countersign.event_push SET lease_until = clock_timestamp() - interval '1 s'
                """)
            let quick = try #require(try await claim(queue))
            #expect(places(quick) == places(slow) && quick.claim.lease != slow.claim.lease)
            for outcome in [.arrived, .retry(after: Seconds(1), cause: .timeout)]
                as [EventPushOutcome]
            {
                #expect(try await queue.settle(slow, outcome) == false)
            }
            #expect(try await queue.settle(quick, .arrived))
            #expect(try await queue.settle(slow, .arrived) == false)
            #expect(places(try await claim(queue)) == [4, 5])
        }
    }

    @Test func `tell how many wait, and for how long`() async throws {
        try await withEvents(2) { world, queue in
            try await world.test.runScript(
                """
                ALTER TABLE countersign.event DISABLE TRIGGER guard;
                UPDATE countersign.event SET at = at - interval '100 seconds';
                ALTER TABLE countersign.event ENABLE ALWAYS TRIGGER guard
                """)
            let standing = try await queue.claim(limit: 100, lease: Self.lease)
            #expect(standing.waiting == 2 && standing.lag >= Seconds(100))
            let batch = try await queue.batch(try #require(standing.claim))
            _ = try await queue.settle(batch, .arrived)
            let after = try await queue.claim(limit: 100, lease: Self.lease)
            #expect(after.waiting == 0 && after.lag == Seconds(0) && after.claim == nil)
        }
    }

    @Test func `tell how long they are stuck, when one is missing that would be next`()
        async throws
    {
        try await withEvents(4) { world, queue in
            _ = try await queue.settle(try #require(try await claim(queue, 1)), .arrived)
            try await world.test.runScript(
                """
                ALTER TABLE countersign.event DISABLE TRIGGER USER;
                DELETE FROM countersign.event WHERE position = 2;
                UPDATE countersign.event SET at = at - interval '100 seconds'
                """)
            let standing = try await queue.claim(limit: 3, lease: Self.lease)
            #expect(standing.waiting == 3 && standing.lag >= Seconds(100))
            let stuck = try #require(standing.claim)
            await #expect(throws: StoreFailure.internalFailure(code: "event_batch")) {
                try await queue.batch(stuck)
            }
        }
    }

    @Test(arguments: [
        ("UPDATE countersign.event_push SET position = position + 1", "CS004"),
        ("UPDATE countersign.event_push SET position = 0", "CS004"),
        ("UPDATE countersign.event_push SET batch_last = batch_last + 1", "CS004"),
        ("UPDATE countersign.event_push SET batch_last = NULL", "CS004"),
        ("DELETE FROM countersign.event_push", "CS001"),
        ("INSERT INTO countersign.event_push (only_one) VALUES (true)", "23505:event_push_pkey"),
        (
            "INSERT INTO countersign.event_push (only_one) VALUES (false)",
            "23514:event_push_only_one"
        ),
    ])
    func `are skipped by nobody`(statement: String, code: String) async throws {
        try await withEvents(5) { world, queue in
            _ = try await queue.settle(try #require(try await claim(queue)), .arrived)
            _ = try #require(try await claim(queue, 2))
            await #expect(throws: StoreFailure.internalFailure(code: code)) {
                try await world.test.sql(statement)
            }
        }
    }
}
