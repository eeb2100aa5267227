import Countersign
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `How strictly requests are judged, in Postgres` {
    @Test func `is set for one credential, with evidence of each change`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let (loose, strict) = (
                try await world.enrolled(customer), try await world.enrolled(customer)
            )
            for choice in [RequestModeChoice.logOnly, .logOnly, .enforce, .inherited, .logOnly] {
                let signing = try #require(try await world.setMode(choice, of: loose))
                #expect(signing.choice == choice)
                #expect(signing.effective == (choice == .logOnly ? .logOnly : .enforce))
            }
            let bodies = try await world.bodies(.requestConfigured)
            #expect(
                bodies.compactMap { $0["before"]?.text }
                    == ["default", "log_only", "enforce", "default"])
            #expect(
                bodies.compactMap { $0["mode"]?.text }
                    == ["log_only", "enforce", "default", "log_only"])
            #expect(bodies.allSatisfy { $0["client_id"]?.text == world.client.text })
            #expect(try await world.evidenceHolds())

            let looseDraft = try await world.draft(loose)
            let strictDraft = try await world.draft(strict)
            let forgedLoose = try await world.requests().verify(looseDraft.request([1]))
            let forgedStrict = try await world.requests().verify(strictDraft.request([1]))
            #expect(forgedLoose.mode == .logOnly && forgedLoose.isAllowed)
            #expect(forgedStrict.mode == .enforce && !forgedStrict.isAllowed)
        }
    }

    @Test func `of a customer with a strict key is strict for requests that name none`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let nobody = RequestDraft(Fixtures.id(1)).with { $0.customerID = customer }
            let requests = world.requests(general: .logOnly)
            #expect(try await requests.verify(nobody.request([1])).mode == .logOnly)
            _ = try await world.setMode(.enforce, of: phone)
            let answer = try await requests.verify(nobody.request([1]))
            #expect(answer.refusal == .credentialUnknown && answer.mode == .enforce)
            _ = try await world.revoke(phone.credential)
            #expect(try await requests.verify(nobody.request([1])).mode == .logOnly)
        }
    }

    @Test func `of another customer, or a loose one, makes nothing strict`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            _ = try await world.setMode(.logOnly, of: try await world.enrolled(customer))
            _ = try await world.setMode(
                .enforce, of: try await world.enrolled(try CustomerID("c-2")))
            let nobody = RequestDraft(Fixtures.id(1)).with { $0.customerID = customer }
            let answer = try await world.requests(general: .logOnly).verify(nobody.request([1]))
            #expect(answer.mode == .logOnly)
        }
    }

    @Test func `has a form of its own, and one customer`() async throws {
        try await EnrolmentWorld.with(connections: 1) { world in
            _ = try await world.enrolled(EnrolmentWorld.customer())
            await #expect(
                throws: StoreFailure.internalFailure(code: "23514:request_signing_mode")
            ) {
                try await world.test.sql(
                    """
                    INSERT INTO countersign.request_signing
                    SELECT id, 'off' FROM countersign.credential
                    """)
            }
            let refused = try await world.count(
                """
                SELECT count(*) FROM countersign.credential WHERE countersign.set_request_signing(
                    gen_random_uuid(), id, seq, 'enforce', '[]') = 'lost_race'
                """)
            #expect(refused == 1)
        }
    }

    @Test func `is not loosened by naming another key of a customer who has a strict one`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let (phone, other) = (
                try await world.enrolled(customer), try await world.enrolled(customer)
            )
            let requests = world.requests(general: .logOnly)
            let unnamed = try await world.draft(other)
            let named = unnamed.with { $0.customerID = customer }
            for choice in [RequestModeChoice.inherited, .logOnly] {
                _ = try await world.setMode(choice, of: other)
                _ = try await world.setMode(.inherited, of: phone)
                #expect(try await requests.verify(unnamed.request([1])).isAllowed)
                _ = try await world.setMode(.enforce, of: phone)
                for draft in [unnamed, named] {
                    #expect(try await !requests.verify(draft.request([1])).isAllowed)
                }
                let signing = try await requests.requestSigning(of: other.credential)
                #expect(signing?.choice == choice && signing?.effective == .enforce)
            }
            _ = try await world.revoke(phone.credential)
            #expect(try await requests.verify(named.request([1])).isAllowed)
        }
    }

    @Test func `is set by many at once, one after another`() async throws {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            _ = try await atOnce(Array(0..<16)) { number in
                try await world.setMode(number % 2 == 0 ? .logOnly : .enforce, of: phone)
            }
            #expect(try await world.evidenceHolds())
            let last = try await world.bodies(.requestConfigured).last?["mode"]?.text
            let now = try await world.requests().requestSigning(of: phone.credential)
            #expect(now?.choice.rawValue == last)
        }
    }

    @Test func `and nonces are written by the functions alone, with evidence`() async throws {
        try await EnrolmentWorld.with(connections: 1) { world in
            _ = try await world.enrolled(EnrolmentWorld.customer())
            // A name for each: a connection prepares each name once.
            for (number, statement) in [
                "INSERT INTO countersign.device_request SELECT id, 'nonce-0001', id FROM countersign.credential",
                "UPDATE countersign.device_request SET seen_at = now() - interval '1 day'",
                "DELETE FROM countersign.device_request", "TRUNCATE countersign.device_request",
                "INSERT INTO countersign.request_signing SELECT id, 'log_only' FROM countersign.credential",
                "DELETE FROM countersign.request_signing",
                "SELECT countersign.lock_credential_at(gen_random_uuid(), gen_random_uuid(), 1)",
            ].enumerated() {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "42501"), "\(statement)"
                ) {
                    try await world.database.query(
                        Statement("denied \(number)", .write, Bytes(statement.utf8)))
                }
            }
            for (number, call) in [
                "set_request_signing(subject_id, id, seq, 'log_only', '[]')",
                """
                record_device_request_replay(subject_id, id, seq, 'nonce-0001',
                    '[{"id": "x", "kind": "request.configured", "leaf": "7b7d"}]')
                """,
            ].enumerated() {
                try await world.test.sql(
                    """
                    INSERT INTO countersign.device_request
                    SELECT id, 'nonce-0001', id FROM countersign.credential ON CONFLICT DO NOTHING
                    """)
                let statement = "SELECT countersign.\(call) FROM countersign.credential"
                await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                    try await world.database.query(
                        Statement("bare \(number)", .write, Bytes(statement.utf8)))
                }
            }
            for role in [TestDatabase.Role.auditor, .op] {
                let other = await world.test.open(as: role, size: 1)
                await #expect(throws: StoreFailure.internalFailure(code: "42501")) {
                    try await other.query(
                        Statement(
                            "forget", .write,
                            Bytes("SELECT countersign.forget_device_requests(1)".utf8)))
                }
            }
        }
    }
}
