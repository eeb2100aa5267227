import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Revoking a key in Postgres` {
    @Test func `cancels what it approved and was not sent, and gives back what it reserved`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            try await world.announce()
            try await world.importPayee(customer)
            let ready = try await world.create(customer, try world.transfer("120.00"))
            let held = try await world.create(customer, try world.newPayee())
            let tried = try await world.create(customer, try world.transfer("30.00"))
            #expect(try await world.approve(tried, phone).action?.execution == .ready)
            #expect(try await world.claim() == [tried.action])
            #expect(try await world.approve(ready, phone).action?.execution == .ready)
            #expect(try await world.approve(held, phone).action?.execution == .held)
            let pending = try await world.create(customer, try world.transfer("1.00"))

            let revoked = try #require(
                try await world.revoke(phone.credential)
            )
            #expect(revoked.status == .revoked && revoked.revokedAt != nil)
            #expect(try await world.action(ready).execution == .cancelled)
            #expect(try await world.action(held).execution == .cancelled)
            #expect(try await world.action(tried).execution == .inProgress)
            #expect(try await world.action(pending).authorization == .pending)
            let used = "SELECT used FROM countersign.counter WHERE dimension = 'day:EUR'"
            #expect(try await world.count(used) == 3000)
            let payees = """
                SELECT count(*) FROM countersign.payee WHERE status = 'removed'
                """
            #expect(try await world.count(payees) == 1)
            #expect(try await world.recorded(.actionCancelled) == 2)
            let body = try #require(try await world.bodies(.credentialRevoked).first)
            #expect(body["reason"]?.text == "lost")
            #expect(body["client_id"]?.text == world.client.text)
            #expect(try await world.evidenceHolds())

            #expect(
                body["voided_challenges"] == [.string(pending.challenge.text)]
                    && body["voided_authorizations"] == [])

            // The question that was open is dead, and the key for what is asked anew.
            #expect(try await world.approve(pending, phone).refusal == .challengeConsumed)
            let fresh = try await world.create(customer, try world.transfer("1.00"))
            #expect(try await world.approve(fresh, phone).refusal == .authenticationFailed)
            // And again says the same and does nothing.
            let again = try #require(
                try await world.revoke(phone.credential))
            #expect(again.json == revoked.json)
            #expect(try await world.recorded(.credentialRevoked) == 1)
            #expect(
                try await world.service().credentials(of: customer).map(\.json)
                    == [revoked.json])
        }
    }

    @Test func `another key of the customer answers only what is asked anew`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let (lost, kept) = (
                try await world.enrolled(customer), try await world.enrolled(customer)
            )
            try await world.importPayee(customer)
            let question = try await world.create(customer, try world.transfer("1.00"))
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let vouching = try await world.question(offer.id, customer, key: key.publicKey.spki)
            _ = try await world.revoke(lost.credential)
            #expect(try await world.approve(question, kept).refusal == .challengeConsumed)
            let fresh = try await world.create(customer, try world.transfer("1.00"))
            #expect(try await world.approve(fresh, kept).action?.authorization == .approved)

            // What it was asked to vouch for is dead as well.
            let body = try #require(try await world.bodies(.credentialRevoked).first)
            #expect(body["voided_authorizations"] == [.string(vouching.id.text)])
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                try kept.vouch(vouching))
            #expect(outcome.refusal == .notAuthorized)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `a key that was revoked is never enrolled again, for nobody`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            _ = try await world.revoke(phone.credential)
            for customer in [customer, try CustomerID("c-2")] {
                let offer = try await world.begin(for: customer)
                let outcome = try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(phone.key, offer.message)),
                    .scaToken(
                        try await world.token(offer.id, customer, key: phone.key.publicKey.spki)))
                #expect(outcome.refusal == .credentialExists)
            }
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `of a key that is not there is nothing`() async throws {
        try await EnrolmentWorld.with { world in
            let revoked = try await world.revoke(ID(rawValue: 7))
            #expect(revoked == nil)
        }
    }

    @Test func `many revocations at once are one`() async throws {
        try await EnrolmentWorld.with { world in
            let phone = try await world.enrolled(try EnrolmentWorld.customer())
            let revoked = try await atOnce(Array(0..<12)) { _ in
                try await world.revoke(phone.credential)
            }
            #expect(Set(revoked.map { $0?.revokedAt }).count == 1)
            #expect(revoked.allSatisfy { $0?.status == .revoked })
            #expect(try await world.recorded(.credentialRevoked) == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test(arguments: [
        // As a release does, which continues the chain and does not touch the customer.
        "UPDATE countersign.action SET seq = seq + 1",
        "UPDATE countersign.customer SET version = version + 1",
        "UPDATE countersign.credential SET seq = seq + 1",
        "UPDATE countersign.execution_order SET attempt = 1",
        // A question that nobody read of, and one that was answered: neither touches the customer.
        """
        INSERT INTO countersign.enrolment_authorization
        SELECT gen_random_uuid(), id, sha256(''), '', clock_timestamp() + interval '1 minute'
          FROM countersign.enrolment LIMIT 1
        """,
        "UPDATE countersign.challenge SET state = 'superseded' WHERE state = 'live'",
    ])
    func `what changed since the load makes a lost race`(change: String) async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let held = try await world.create(customer, try world.newPayee())
            _ = try await world.approve(held, phone)
            _ = try await world.create(customer, try world.newPayee())
            let context = try #require(
                try await world.credentials.loadForRevocation(phone.credential))
            #expect(context.openActions.map(\.id) == [held.action])
            try await world.test.sql(change)
            let revoked = try await world.credentials.revoke(
                try world.revocation(of: phone.credential), on: context)
            #expect(revoked == nil)
            #expect(try await world.recorded(.credentialRevoked) == 0)
        }
    }

    @Test func `against an approval, nothing that it approved is left to be sent`() async throws {
        try await EnrolmentWorld.with { world in
            for round in 0..<200 {
                let customer = try CustomerID("c-\(round)")
                let phone = try await world.enrolled(customer)
                try await world.importPayee(customer)
                let question = try await world.create(customer, try world.transfer("1.00"))
                async let decided = world.approve(question, phone)
                async let revoked = world.revoke(phone.credential)
                let (outcome, credential) = (try await decided, try await revoked)
                #expect(credential?.status == .revoked)
                let action = try await world.action(question)
                if outcome.action == nil {
                    #expect(
                        [.authenticationFailed, .challengeConsumed].contains(outcome.refusal))
                    #expect(action.authorization == .pending)
                } else {
                    #expect(action.execution == .cancelled)
                }
            }
            let live = "SELECT count(*) FROM countersign.challenge WHERE state = 'live'"
            #expect(try await world.count(live) == 0)
            try await world.announceAll()
            #expect(try await world.claim().isEmpty)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `against a delivery, an order is cancelled or tried and never both`() async throws {
        try await EnrolmentWorld.with { world in
            var phones: [(CustomerID, Phone)] = []
            for round in 0..<12 {
                let customer = try CustomerID("c-\(round)")
                phones.append((customer, try await world.enrolled(customer)))
                try await world.importPayee(customer)
            }
            try await world.announce()
            var approved: [(Phone, Question)] = []
            for (customer, phone) in phones {
                let question = try await world.create(customer, try world.transfer("1.00"))
                _ = try await world.approve(question, phone)
                approved.append((phone, question))
            }
            async let claimed = atOnce(Array(0..<12)) { _ in try await world.claim(limit: 1) }
            _ = try await atOnce(approved) { phone, _ in
                try await world.revoke(phone.credential)
            }
            let tried = Set(try await claimed.flatMap(\.self))
            for (_, question) in approved {
                let action = try await world.action(question)
                #expect(
                    action.execution == (tried.contains(question.action) ? .inProgress : .cancelled)
                )
            }
            #expect(try await world.evidenceHolds())
        }
    }
}
