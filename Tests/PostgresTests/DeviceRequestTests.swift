import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `A signed request in Postgres` {
    @Test func `64 copies at once are accepted once, and the replay is recorded once`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let request = try await world.signed(phone)
            let answers = try await atOnce(Array(0..<64)) { _ in
                try await world.requests().verify(request)
            }
            #expect(answers.count { $0.refusal == nil } == 1)
            #expect(answers.count { $0.refusal == .nonceUsed } == 63)
            #expect(try await world.recorded(.requestReplayed) == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `copies through two pools, as two instances have them, are accepted once`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let other = await world.test.open(size: 8)
            for round in 0..<8 {
                let request = try await world.signed(phone, nonce: "nonce-round-\(round)")
                let answers = try await atOnce(Array(0..<16)) { number in
                    try await world.requests(over: number % 2 == 0 ? nil : other).verify(request)
                }
                #expect(answers.count { $0.refusal == nil } == 1)
            }
            #expect(try await world.recorded(.requestReplayed) == 8)
        }
    }

    @Test func `a nonce belongs to one credential`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            for _ in 0..<2 {
                let phone = try await world.enrolled(customer)
                let answer = try await world.requests().verify(world.signed(phone))
                #expect(answer.verdict == .verified(phone.credential, of: customer))
            }
        }
    }

    @Test func `a nonce is spent by a good signature only, and nobody is locked out`() async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let (phone, stranger) = (
                try await world.enrolled(customer), try P256PrivateKey.generate()
            )
            let draft = try await world.draft(phone)
            let before = try await world.evidence().count
            for _ in 0..<20 {
                let forged = try draft.signed { try stranger.sign($0) }
                let answer = try await world.requests().verify(forged)
                #expect(answer.refusal == .signatureInvalid)
            }
            #expect(try await world.remembered() == 0)
            #expect(try await world.evidence().count == before)
            #expect(
                try await world.count("SELECT failures FROM countersign.customer") == 0)
            let answer = try await world.requests().verify(draft.signed { try phone.key.sign($0) })
            #expect(answer.refusal == nil)
        }
    }

    @Test func `a flood of replays is recorded once for each nonce, and not without end`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            for number in 0..<40 {
                let request = try await world.signed(phone, nonce: "nonce-\(1000 + number)")
                for _ in 0..<3 { _ = try await world.requests().verify(request) }
            }
            #expect(try await world.remembered() == 40)
            #expect(try await world.recorded(.requestReplayed) == 32)
            #expect(try await world.evidenceHolds())
            // Which is no licence for other phones.
            let other = try await world.enrolled(EnrolmentWorld.customer())
            let request = try await world.signed(other)
            for _ in 0..<2 { _ = try await world.requests().verify(request) }
            #expect(try await world.recorded(.requestReplayed) == 33)
        }
    }

    @Test func `the evidence of a replay verifies with the customer's key`() async throws {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let draft = try await world.draft(phone)
            let request = try draft.signed { try phone.key.sign($0) }
            for _ in 0..<2 { _ = try await world.requests().verify(request) }
            let body = try #require(try await world.bodies(.requestReplayed).first)
            #expect(body.bytes("message") == draft.message)
            let key = try P256PublicKey(spki: try #require(body.bytes("public_key")))
            #expect(key.spki == phone.key.publicKey.spki)
            let signature = try #require(body.bytes("signature"))
            let message = try #require(body.bytes("message"))
            #expect(key.isValid(signature: signature, for: message))
            #expect(body["profile"] == "countersign-request/1")
            #expect(body["client_id"]?.text == request.client.text)
        }
    }

    @Test func `a revoked key signs nothing more`() async throws {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let request = try await world.signed(phone)
            _ = try await world.revoke(phone.credential)
            let answer = try await world.requests().verify(request)
            #expect(answer.refusal == .credentialRevoked)
            #expect(try await world.remembered() == 0)
        }
    }

    @Test func `a request is good for the customer who is logged in, and no other`() async throws {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let draft = try await world.draft(phone)
            for (customer, refusal) in [
                ("c-2", DeviceRequestRefusal.credentialOfAnother), ("c-1001", nil),
            ] {
                let named = try draft.with { $0.customerID = try CustomerID(customer) }
                let answer = try await world.requests().verify(
                    named.signed { try phone.key.sign($0) })
                #expect(answer.refusal == refusal)
            }
        }
    }

    @Test func `the database's clock judges the time`() async throws {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            for (offset, refusal) in [
                (-310, DeviceRequestRefusal.timestampOutOfWindow), (-290, nil), (290, nil),
                (310, .timestampOutOfWindow),
            ] as [(Int64, DeviceRequestRefusal?)] {
                let draft = try await world.draft(phone, nonce: "nonce-at-\(1000 + offset)")
                    .with { $0.timestamp += offset }
                let answer = try await world.requests().verify(
                    draft.signed { try phone.key.sign($0) })
                #expect(answer.refusal == refusal)
            }
        }
    }
}

/// What the database's own function refuses, whatever was read before.
@Suite struct `A signed request that was held back` {
    private func signature(
        _ world: EnrolmentWorld, _ phone: Phone, offset: Int64 = 0, nonce: String = "nonce-0001"
    ) async throws -> RequestSignature {
        let draft = try await world.draft(phone, nonce: nonce).with { $0.timestamp += offset }
        return try RequestSignature(draft.signed { try phone.key.sign($0) }.fields)
    }

    @Test func `is not accepted when its time is over meanwhile`() async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let store = world.requestStore()
            for offset in [-302, 303] as [Int64] {
                let late = try await signature(world, phone, offset: offset)
                let isAccepted = try await store.remember(late, as: Fixtures.id(1))
                #expect(!isAccepted)
            }
            for offset in [-298, 300] as [Int64] {
                let early = try await signature(
                    world, phone, offset: offset, nonce: "nonce-\(1000 + offset)")
                let isAccepted = try await store.remember(early, as: Fixtures.id(1))
                #expect(isAccepted)
            }
        }
    }

    @Test func `is not accepted when its key was revoked meanwhile`() async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let held = try await signature(world, phone)
            _ = try await world.revoke(phone.credential)
            let isAccepted = try await world.requestStore().remember(held, as: Fixtures.id(1))
            #expect(!isAccepted)
        }
    }

    @Test func `is a replay once, and by what is still so`() async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let request = try await world.signed(phone)
            _ = try await world.requests().verify(request)
            let store = world.requestStore()
            let stale = try await store.load(DeviceRequestLookup(request))
            let replay = ReplayedRequest(
                request: request, signature: try RequestSignature(request.fields), message: [],
                earlier: try #require(stale.claimed?.earlier))
            func record(_ context: DeviceRequestContext) async throws -> Bool {
                let claimed = try #require(context.claimed)
                return try await store.record(replay, by: claimed, at: context.at)
            }
            // The credential's chain went on meanwhile.
            _ = try await world.setMode(.logOnly, of: phone)
            #expect(try await !record(stale))
            #expect(try await record(try await store.load(DeviceRequestLookup(request))))
            #expect(try await !record(try await store.load(DeviceRequestLookup(request))))
            let command = SetRequestSigningCommand(
                client: world.client, credential: phone.credential, choice: .enforce)
            let claimed = try #require(stale.claimed)
            #expect(try await !store.set(command, on: claimed, at: stale.at))
            #expect(try await world.recorded(.requestReplayed) == 1)
        }
    }

    @Test func `has a nonce of the documented form in the database too`() async throws {
        try await EnrolmentWorld.with(connections: 1) { world in
            _ = try await world.enrolled(EnrolmentWorld.customer())
            for nonce in ["1234567", "nonce 0001", String(repeating: "n", count: 129)] {
                await #expect(
                    throws: StoreFailure.internalFailure(code: "23514:device_request_nonce_form")
                ) {
                    try await world.test.sql(
                        """
                        INSERT INTO countersign.device_request
                        SELECT id, '\(nonce)', id FROM countersign.credential
                        """)
                }
            }
        }
    }

    @Test func `is remembered for longer than it can be good, and then forgotten`() async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            _ = try await world.requests().verify(world.signed(phone))
            for (seconds, left) in [(601, 1), (890, 1), (910, 0)] {
                try await world.test.sql(
                    """
                    UPDATE countersign.device_request
                       SET seen_at = clock_timestamp() - interval '\(seconds) seconds'
                    """)
                _ = try await world.housekeeping().forgetDeviceRequests()
                #expect(try await world.remembered() == left)
            }
        }
    }

    @Test func `of many, a batch is forgotten at a time`() async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let phone = try await world.enrolled(EnrolmentWorld.customer())
            let batch = Housekeeping.forgettingMax
            try await world.test.sql(
                """
                INSERT INTO countersign.device_request (credential_id, nonce, id, seen_at)
                SELECT '\(phone.credential.text)', 'nonce-' || n, gen_random_uuid(),
                       clock_timestamp() - interval '1 hour'
                  FROM generate_series(100, \(100 + batch)) n
                """)
            let keeper = world.housekeeping()
            #expect(try await keeper.forgetDeviceRequests() == batch)
            #expect(try await keeper.forgetDeviceRequests() == 1)
            #expect(try await keeper.forgetDeviceRequests() == 0)
        }
    }

    @Test func `has one window and one memory, in the program and in the database`() async throws {
        try await EnrolmentWorld.with(connections: 1) { world in
            let window = try await world.count("SELECT countersign.device_request_window()")
            #expect(Int64(window) == DeviceRequestRules.window.count)
            let memory = try await world.count(
                "SELECT extract(epoch FROM countersign.device_request_memory())")
            #expect(memory > 2 * window)
        }
    }
}
