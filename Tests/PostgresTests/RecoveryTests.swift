import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Recovering a customer in Postgres` {
    @Test func `ends keys, questions, enrolments and what was not tried`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let (lost, other) = (
                try await world.enrolled(customer), try await world.enrolled(customer)
            )
            try await world.announce()
            try await world.importPayee(customer)
            let tried = try await world.create(customer, try world.transfer("30.00"))
            _ = try await world.approve(tried, lost)
            #expect(try await world.claim() == [tried.action])
            let ready = try await world.create(customer, try world.transfer("120.00"))
            _ = try await world.approve(ready, other)
            let held = try await world.create(customer, try world.newPayee())
            #expect(try await world.approve(held, lost).action?.execution == .held)
            let pending = try await world.create(customer, try world.transfer("1.00"))
            let key = try P256PrivateKey.generate()
            let open = try await world.begin(for: customer)
            let question = try await world.question(open.id, customer, key: key.publicKey.spki)

            let recovered = try await world.recovered(customer)
            #expect(Set(recovered.revoked) == [lost.credential, other.credential])
            #expect(Set(recovered.cancelled) == [ready.action, held.action])
            #expect(recovered.heldApprovals == .cancel && recovered.kept == [])
            #expect(try await world.action(ready).execution == .cancelled)
            #expect(try await world.action(held).execution == .cancelled)
            #expect(try await world.action(tried).execution == .inProgress)
            #expect(try await world.action(pending).authorization == .pending)
            #expect(try await world.approve(pending, other).refusal == .challengeConsumed)
            let late = try await world.finish(
                open.id, customer, .deviceKey(try world.offered(key, open.message)),
                try other.vouch(question))
            #expect(late.refusal == .consumed)
            #expect(
                try await world.service().credentials(of: customer).allSatisfy {
                    $0.status == .revoked && $0.revokedAt == recovered.at
                })
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.customer WHERE recovered_at IS NOT NULL") == 1
            )

            let body = try #require(try await world.bodies(.recovery).first)
            #expect(body["client_id"]?.text == world.client.text)
            #expect(body["authorization"]?["kind"] == "sca_token")
            #expect(body["voided_challenges"] == [.string(pending.challenge.text)])
            #expect(body["voided_authorizations"] == [.string(question.id.text)])
            #expect(try await world.recorded(.credentialRevoked) == 2)
            #expect(try await world.recorded(.actionCancelled) == 2)
            #expect(try await world.evidenceHolds())

            // The customer goes on with a new key.
            let fresh = try await world.enrolled(customer)
            let asked = try await world.create(customer, try world.transfer("1.00"))
            #expect(try await world.approve(asked, fresh).action?.authorization == .approved)
        }
    }

    @Test(arguments: HeldApprovals.allCases)
    func `cancels what is held, or keeps what an active key approved`(
        rule: HeldApprovals
    ) async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let (active, suspended) = (
                try await world.enrolled(customer), try await world.enrolled(customer)
            )
            let first = try await world.create(customer, try world.newPayee())
            let second = try await world.create(customer, try world.newPayee())
            #expect(try await world.approve(first, active).action?.execution == .held)
            #expect(try await world.approve(second, suspended).action?.execution == .held)
            try await world.test.sql(
                """
                UPDATE countersign.credential SET status = 'suspended', failures = 100
                 WHERE id = '\(suspended.credential.text)'
                """)
            let context = try #require(
                try await world.customers.loadForRecovery(of: customer))
            let recovery = Recovery(
                command: RecoverCustomerCommand(
                    client: world.client, customerID: customer, token: nil),
                token: nil, heldApprovals: rule, on: context)
            let result = try await world.customers.recover(recovery, on: context)
            #expect(result == .recovered)
            let execution = try await world.action(first).execution
            #expect(execution == (rule == .keep ? .held : .cancelled))
            try await world.test.endHolds()
            let housekeeping = Housekeeping(database: world.database, sealer: world.sealer)
            #expect(try await housekeeping.settleDueActions() == (rule == .keep ? 2 : 0))
            #expect(
                try await world.action(first).execution == (rule == .keep ? .ready : .cancelled))
            // A key that had failed too often was good for nothing before already.
            #expect(try await world.action(second).execution == .cancelled)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test(
        arguments: [
            (nil, "authorization_missing"), ("a.b.c", "sca_token_invalid"),
            ("of another system", "sca_token_invalid"), ("to enrol", "sca_token_invalid"),
            ("of another", "sca_token_customer_mismatch"), ("late", "sca_token_expired"),
            ("too long", "sca_token_lifetime"),
        ] as [(String?, String)])
    func `needs a token of the identity system for this very thing`(
        token: String?, code: String
    ) async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let open = try await world.begin(for: customer)
            let made: String? =
                switch token {
                case "of another system":
                    try await world.recoveryToken(customer, key: .ed25519(try .generate()))
                case "to enrol":
                    try await world.token(open.id, customer, key: phone.key.publicKey.spki)
                case "of another": try await world.recoveryToken(try CustomerID("c-2"))
                case "late": try await world.recoveryToken(customer, expiresIn: -1)
                case "too long": try await world.recoveryToken(customer, expiresIn: 660)
                default: token
                }
            let outcome = try await world.recover(customer, made)
            #expect(outcome.refusal == .notAuthorized)
            let body = try #require(try await world.bodies(.attemptFailed).first)
            #expect(body["stage"] == "recovery" && body["reason"] == .string(code))
            #expect(try await world.recorded(.recovery) == 0)
            #expect(
                try await world.service().credentials(of: customer).map(\.status) == [.active])
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.enrolment WHERE spent_at IS NULL") == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `is no token to enrol with`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            // Even one that says all that a token to enrol says.
            let token = try await world.token(
                offer.id, customer, key: key.publicKey.spki,
                extra: [.init("purpose", "recovery")])
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                .scaToken(token))
            #expect(outcome.refusal == .notAuthorized)
        }
    }

    @Test func `takes a token once, also when it comes many times at once`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            _ = try await world.enrolled(customer)
            let token = try await world.recoveryToken(customer)
            let outcomes = try await atOnce(Array(0..<12)) { _ in
                try await world.recover(customer, token)
            }
            #expect(outcomes.count { $0.recovered != nil } == 1)
            #expect(outcomes.count { $0.refusal == .notAuthorized } == 11)
            #expect(try await world.recorded(.recovery) == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `of somebody unknown there is none, and in development it needs no token`()
        async throws
    {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            #expect(try await world.recover(customer, nil).refusal == .notFound)
            _ = try await world.begin(for: customer)
            #expect(
                try await world.recover(customer, nil, rule: .mayBeUnauthorized).recovered?.revoked
                    == [])
            #expect(try await world.bodies(.recovery).first?["authorization"]?["kind"] == "none")
        }
    }

    @Test func `works while the customer is locked, and unlocks nothing`() async throws {
        try await EnrolmentWorld.with(connections: 4) { world in
            let customer = try EnrolmentWorld.customer()
            _ = try await world.enrolled(customer)
            try await world.test.sql(
                """
                UPDATE countersign.customer SET failures = 3,
                       locked_until = clock_timestamp() + interval '1 hour'
                """)
            #expect(try await world.recovered(customer).revoked.count == 1)
            #expect(
                try await world.count(
                    """
                    SELECT count(*) FROM countersign.customer
                     WHERE failures = 3 AND locked_until > clock_timestamp()
                    """) == 1)
        }
    }

    @Test(arguments: [
        "UPDATE countersign.action SET seq = seq + 1",
        "UPDATE countersign.customer SET version = version + 1",
        "UPDATE countersign.credential SET seq = seq + 1",
        "UPDATE countersign.execution_order SET attempt = 1",
        "UPDATE countersign.challenge SET state = 'superseded' WHERE state = 'live'",
        "UPDATE countersign.credential SET status = 'revoked', revoked_at = clock_timestamp()",
    ])
    func `what changed since the load makes a lost race, and spends no token`(
        change: String
    ) async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            _ = try await world.approve(
                try await world.create(customer, try world.newPayee()), phone)
            _ = try await world.create(customer, try world.newPayee())
            let context = try #require(
                try await world.customers.loadForRecovery(of: customer))
            let spent = try await world.count("SELECT count(*) FROM countersign.sca_token")
            try await world.test.sql(change)
            let recovery = Recovery(
                command: RecoverCustomerCommand(
                    client: world.client, customerID: customer, token: nil),
                token: RecoveryToken(claims: [
                    "purpose": "recovery", "jti": "once", "customer_id": .string(customer.text),
                    "exp": .integer((try await world.now() + Seconds(60)).milliseconds / 1000),
                ]),
                heldApprovals: .cancel, on: context)
            #expect(recovery.token != nil)
            let result = try await world.customers.recover(recovery, on: context)
            #expect(result == .lostRace)
            #expect(try await world.recorded(.recovery) == 0)
            #expect(
                try await world.count("SELECT count(*) FROM countersign.sca_token") == spent)
        }
    }
}
