import Countersign
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `The feed of events` {
    /// All events after a place, page by page.
    private func read(
        _ world: EnrolmentWorld, after place: EventPlace = .start, page: Int = 3
    ) async throws -> [PlacedEvent] {
        let feed = PostgresEventFeed(database: world.database)
        var events: [PlacedEvent] = []
        while true {
            let found = try #require(
                try await feed.events(after: events.last?.place ?? place, limit: page))
            guard !found.isEmpty else { return events }
            events += found
        }
    }

    @Test func `tells that a change of contact data holds what moves money`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let change = try await world.create(customer, try Fixtures.contactChange())
            _ = try await world.approve(change, phone)
            let told = try await read(world).filter { $0.kind == "hold.placed" }
            let rules = told.map { $0.document["rule"]?.text }
            #expect(rules.contains("contact_change_hold"))
            #expect(told.first { $0.document["rule"] == "contact_change_hold" }?.actionID == nil)
        }
    }

    @Test func `tells what happened to keys, payees, holds, limits and the customer`()
        async throws
    {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            try await world.importPayee(customer)
            let held = try await world.create(customer, try world.newPayee())
            _ = try await world.approve(held, phone)
            let refused = try await world.create(customer, try world.transfer("60000.00"))
            #expect(try await world.approve(refused, phone).action == nil)
            let cancel = CancelAction(store: world.actions)
            _ = try await cancel(held.action, reason: "changed")
            let released = try await world.create(customer, try world.newPayee())
            _ = try await world.approve(released, phone)
            try await world.test.endHolds()
            let housekeeping = Housekeeping(database: world.database, sealer: world.sealer)
            #expect(try await housekeeping.settleDueActions() == 1)
            try await world.test.sql(
                "UPDATE countersign.customer SET locked_until = '2030-01-02T03:04:05.5Z'")
            _ = try await world.recovered(customer)

            let events = try await read(world)
            let kinds = events.map(\.kind)
            #expect(
                kinds.filter { $0 != "payee.added" && $0 != "hold.placed" } == [
                    "credential.enrolled", "limit.refused", "hold.cancelled", "payee.removed",
                    "hold.ended", "customer.locked", "credential.revoked", "payee.removed",
                    "recovery",
                ])
            #expect(kinds.count { $0 == "payee.added" } == 2)
            #expect(kinds.count { $0 == "hold.placed" } == 2)
            #expect(events.allSatisfy { $0.customerID == customer })
            #expect(events.map(\.place.number) == (1...Int64(events.count)).map { $0 })
            func first(_ kind: String) throws -> PlacedEvent {
                try #require(events.first { $0.kind == kind })
            }
            let enrolled = try first("credential.enrolled")
            #expect(
                enrolled.credentialID == phone.credential && enrolled.credentialLabel == "Phone")
            let placed = try first("hold.placed")
            #expect(placed.actionID == held.action)
            #expect(placed.document["rule"] == "new_credential_cooling_off")
            #expect(placed.document["until"]?.text.flatMap { Instant(text: $0) } != nil)
            #expect(try first("payee.added").actionID == held.action)
            #expect(try first("payee.added").payeeID == first("payee.removed").payeeID)
            #expect(try first("limit.refused").document["rule"] == "single_max")
            #expect(
                try first("customer.locked").document["until"] == "2030-01-02T03:04:05.500Z")
            // Nothing that evidence encrypts but what the bank needs to write to its customer.
            let told = events.map { String(decoding: $0.document.encoded, as: UTF8.self) }.joined()
            #expect(!told.contains("GB82") && !told.contains("Mustermann"))
        }
    }

    @Test func `tells of the key that has failed too often`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let phone = try await world.enrolled(try EnrolmentWorld.customer())
            try await world.test.sql(
                "UPDATE countersign.credential SET status = 'suspended', failures = 100")
            let events = try await read(world)
            #expect(events.map(\.kind) == ["credential.enrolled", "credential.suspended"])
            #expect(events.last?.credentialID == phone.credential)
        }
    }

    @Test func `knows no place beyond its end`() async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let feed = PostgresEventFeed(database: world.database)
            #expect(try await feed.events(after: .start, limit: 9)?.count == 0)
            #expect(try await feed.events(after: EventPlace(number: 1), limit: 9) == nil)
            _ = try await world.enrolled(try EnrolmentWorld.customer())
            #expect(try await feed.events(after: .start, limit: 9)?.count == 1)
            #expect(try await feed.events(after: EventPlace(number: 1), limit: 9)?.count == 0)
            #expect(try await feed.events(after: EventPlace(number: 2), limit: 9) == nil)
        }
    }

    /// What was written first and committed last comes last, and is not missed.
    @Test func `skips nothing that an open transaction has written`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let (early, late) = (try CustomerID("c-1"), try CustomerID("c-2"))
            _ = try await world.begin(for: early)
            _ = try await world.begin(for: late)
            try await world.test.sql("CREATE TABLE public.gate (is_open bool)")
            async let open = world.test.sql(
                """
                DO $$ BEGIN
                    \(Self.lock("c-1"));
                    WHILE NOT EXISTS (SELECT FROM public.gate) LOOP
                        PERFORM pg_sleep(0.01);
                    END LOOP;
                END $$
                """)
            let hasWritten = """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                   AND backend_xid IS NOT NULL AND query LIKE 'DO %'
                """
            for _ in 0..<3000 {
                if try await world.count(hasWritten) > 0 { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(try await world.count(hasWritten) == 1)
            try await world.test.sql(Self.lock("c-2"))
            let seen = try await read(world)
            #expect(seen.map(\.customerID) == [late])
            try await world.test.sql("INSERT INTO public.gate VALUES (true)")
            _ = try await open
            let missed = try await read(world, after: try #require(seen.last).place)
            #expect(missed.map(\.customerID) == [early])
            // The order never changes any more, although the first one's number is lower.
            #expect(try await read(world).map(\.customerID) == [late, early])
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.event a JOIN countersign.event b
                        ON a.number < b.number AND a.position > b.position
                    """) == 1)
        }
    }

    @Test func `is the same for all readers while many write`() async throws {
        try await EnrolmentWorld.with { world in
            let writers = 6
            let each = 15
            for number in 0..<writers {
                _ = try await world.begin(for: try CustomerID("c-\(number)"))
            }
            let all = writers * each
            async let written: [Void] = atOnce(Array(0..<writers)) { number in
                for _ in 0..<each {
                    let script = """
                        BEGIN; \(Self.lock("c-\(number)")); SELECT pg_sleep(random() * 0.02);
                        COMMIT
                        """
                    try await world.test.run { connection throws(PostgresError) in
                        try connection.run(script: script)
                    }
                }
            }
            let readers = try await atOnce([1, 2, 5, 100]) { page in
                let feed = PostgresEventFeed(database: world.database)
                var seen: [PlacedEvent] = []
                for _ in 0..<6000 where seen.count < all {
                    try await Task.sleep(for: .milliseconds(5))
                    let place = seen.last?.place ?? .start
                    let found = try await feed.events(after: place, limit: page)
                    seen += try #require(found)
                }
                return seen.map(\.id)
            }
            _ = try await written
            #expect(Set(readers).count == 1)
            #expect(readers.allSatisfy { Set($0).count == all })
            // Of one customer in the order in which it happened.
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.event a JOIN countersign.event b
                        ON a.subject_id = b.subject_id AND a.at < b.at AND a.position > b.position
                    """) == 0)
        }
    }

    @Test func `is changed by nobody`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            _ = try await world.enrolled(try EnrolmentWorld.customer())
            _ = try await read(world)
            for statement in [
                "UPDATE countersign.event SET position = 7",
                "UPDATE countersign.event SET position = NULL",
                "UPDATE countersign.event SET kind = 'recovery'", "DELETE FROM countersign.event",
                "TRUNCATE countersign.event",
            ] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "CS001"), "\(statement)"
                ) {
                    try await world.test.sql(statement)
                }
            }
        }
    }

    /// Locks a customer anew, which is an event.
    private static func lock(_ customer: String) -> String {
        """
        UPDATE countersign.customer SET locked_until = clock_timestamp() + interval '1 hour'
         WHERE customer_id = '\(customer)'
        """
    }
}
