import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// NIST SP 800-63B-4 §3.2.2, standards D-02: a key that fails a hundred times in a row is disabled.
@Suite struct `A key that fails again and again` {
    /// As so many failures would have left it.
    private func fail(_ times: Int, in test: TestDatabase) async throws {
        try await test.sql("UPDATE countersign.credential SET failures = \(times)")
    }

    private static let failures = "SELECT max(failures) FROM countersign.credential"

    private func wrong(_ phone: Phone) throws -> Phone {
        Phone(key: try .generate(), credential: phone.credential)
    }

    @Test func `is suspended at its hundredth failure, and what was open ends with it`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            try await world.importPayee(customer)
            let question = try await world.create(customer, try world.transfer("1.00"))
            let other = try await world.create(customer, try world.transfer("2.00"))
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let vouching = try await world.question(offer.id, customer, key: key.publicKey.spki)
            try await fail(99, in: world.test)

            let last = try await world.approve(question, try wrong(phone))
            #expect(last.refusal == .authenticationFailed)
            let credential = try #require(
                try await world.service().credentials(of: customer).first)
            #expect(credential.status == .suspended && credential.json["status"] == "suspended")
            let body = try #require(try await world.bodies(.credentialSuspended).first)
            let voided = [question.challenge, other.challenge].sorted { $0.text < $1.text }
            #expect(body["voided_challenges"] == .array(voided.map { .string($0.text) }))
            #expect(body["voided_authorizations"] == [.string(vouching.id.text)])
            #expect(body["failures"] == .integer(100))
            let failure = try #require(try await world.bodies(.attemptFailed).first)
            #expect(failure["failures"]?["credential"] == .integer(100))

            // It never signs again: not what was open, and not what is asked anew.
            #expect(try await world.approve(other, phone).refusal == .challengeConsumed)
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                try phone.vouch(vouching))
            #expect(outcome.refusal == .notAuthorized)
            let fresh = try await world.create(customer, try world.transfer("3.00"))
            #expect(try await world.approve(fresh, phone).refusal == .authenticationFailed)
            #expect(try await world.count(Self.failures) == 100)
            #expect(try await world.recorded(.credentialSuspended) == 1)

            // It can still be revoked, once; a new key needs a new enrolment.
            #expect(try await world.revoke(phone.credential)?.status == .revoked)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `is still good after ninety-nine, and then starts anew`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            try await world.importPayee(customer)
            let question = try await world.create(customer, try world.transfer("1.00"))
            try await fail(98, in: world.test)
            let wrong = try await world.approve(question, try wrong(phone))
            #expect(wrong.refusal == .authenticationFailed)
            #expect(try await world.count(Self.failures) == 99)
            #expect(try await world.approve(question, phone).action?.authorization == .approved)
            #expect(try await world.count(Self.failures) == 0)
            #expect(try await world.recorded(.credentialSuspended) == 0)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `is suspended once, however many failures come at once`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            try await world.importPayee(customer)
            var questions: [Question] = []
            for _ in 0..<9 {
                questions.append(try await world.create(customer, try world.transfer("1.00")))
            }
            // Fewer than lock the customer, so that nothing else stops them.
            try await fail(97, in: world.test)
            let wrong = try wrong(phone)
            let refusals = try await atOnce(questions) { question in
                try await world.approve(question, wrong).refusal
            }
            #expect(refusals.count { $0 == .authenticationFailed } == 3)
            #expect(refusals.count { $0 == .challengeConsumed } == 6)
            #expect(try await world.count(Self.failures) == 100)
            #expect(try await world.recorded(.credentialSuspended) == 1)
            let live = "SELECT count(*) FROM countersign.challenge WHERE state = 'live'"
            #expect(try await world.count(live) == 0)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `approves or is suspended, when its last failure and a right answer race`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            for round in 0..<30 {
                let customer = try CustomerID("c-\(round)")
                let phone = try await world.enrolled(customer)
                try await world.importPayee(customer)
                let first = try await world.create(customer, try world.transfer("1.00"))
                let second = try await world.create(customer, try world.transfer("2.00"))
                try await world.test.sql(
                    """
                    UPDATE countersign.credential SET failures = 99
                     WHERE id = '\(phone.credential.text)'
                    """)
                let stranger = try wrong(phone)
                async let failed = world.approve(first, stranger)
                async let decided = world.approve(second, phone)
                let (failure, outcome) = (try await failed, try await decided)
                #expect(failure.refusal == .authenticationFailed)
                let credential = try await world.service().credentials(of: customer).first
                if outcome.action == nil {
                    #expect(outcome.refusal == .challengeConsumed)
                    #expect(credential?.status == .suspended)
                } else {
                    // The right answer was first, and began the count anew.
                    let count = """
                        SELECT failures FROM countersign.credential
                         WHERE id = '\(phone.credential.text)'
                        """
                    #expect(credential?.status == .active)
                    #expect(try await world.count(count) == 1)
                }
            }
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `counts its wrong answers to questions to vouch as well`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            func finish(by voucher: Phone) async throws -> FinishOutcome {
                let key = try P256PrivateKey.generate()
                let offer = try await world.begin(for: customer)
                let question = try await world.question(
                    offer.id, customer, key: key.publicKey.spki)
                return try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    try voucher.vouch(question))
            }
            try await fail(98, in: world.test)
            #expect(try await finish(by: try wrong(phone)).refusal == .authenticationFailed)
            #expect(try await world.count(Self.failures) == 99)
            #expect(try await finish(by: phone).credential != nil)
            #expect(try await world.count(Self.failures) == 0)
            try await world.test.sql(
                """
                UPDATE countersign.credential SET failures = 99
                 WHERE id = '\(phone.credential.text)'
                """)
            #expect(try await finish(by: try wrong(phone)).refusal == .authenticationFailed)
            let statuses = try await world.service().credentials(of: customer).map(\.status)
            #expect(statuses == [.suspended, .active])
            #expect(try await world.recorded(.credentialSuspended) == 1)
            #expect(try await finish(by: phone).refusal == .authenticationFailed)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `starts anew with every proof that is believed, whatever it is for`() async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            for (decision, amount) in [
                (SignedDecision.approve, "1.00"), (.reject, "1.00"), (.approve, "60000.00"),
            ] {
                try await fail(42, in: world.test)
                let asked = try await world.ask(try Fixtures.transfer(amount), customer)
                _ = try await world.bank.decide(world.command(decision, asked, customer))
                #expect(try await world.count(Self.failures) == 0, "\(decision) \(amount)")
            }
            #expect(try await world.evidenceFaults() == [])
        }
    }

    @Test(arguments: [
        "note_proof(id, NULL, true, '[]')", "count_failure(subject_id, id, '{}', '{}', '[]')",
    ])
    func `changes nothing that is an event without the evidence of it`(call: String) async throws {
        try await DecisionWorld.with(connections: 2) { world in
            _ = try await world.customer()
            await #expect(throws: StoreFailure.internalFailure(code: "CS005")) {
                try await world.test.sql(
                    "SELECT countersign.\(call)::text FROM countersign.credential")
            }
        }
    }

    /// Not even a superuser.
    @Test(arguments: [
        ("failures = 100", "23514:credential_active_may_fail"),
        ("status = 'suspended', failures = 101", "23514:credential_failures_bound"),
        ("failures = -1", "23514:credential_failures_bound"),
        ("status = 'suspended'", "23514:credential_suspended_has_failed"),
        ("signature_format = 'jose'", "23514:credential_signature_format"),
        ("transports = '{usb}'", "23514:credential_transports"),
    ])
    func `is never stored in a state that cannot be`(
        assignment: String, code: String
    ) async throws {
        try await DecisionWorld.with(connections: 2) { world in
            _ = try await world.customer()
            await #expect(throws: StoreFailure.internalFailure(code: code)) {
                try await world.test.sql("UPDATE countersign.credential SET \(assignment)")
            }
        }
    }

    @Test(arguments: [
        "status = 'suspended', failures = 100",
        "status = 'revoked', revoked_at = clock_timestamp()",
    ])
    func `never comes back`(end: String) async throws {
        try await DecisionWorld.with(connections: 2) { world in
            _ = try await world.customer()
            try await world.test.sql("UPDATE countersign.credential SET \(end)")
            await #expect(throws: StoreFailure.internalFailure(code: "CS004")) {
                try await world.test.sql(
                    """
                    UPDATE countersign.credential
                       SET status = 'active', failures = 0, revoked_at = NULL
                    """)
            }
        }
    }
}
