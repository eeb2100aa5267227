import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

@Suite struct `Vouching for a key in Postgres` {
    @Test func `a token that was used is used up for every later enrolment`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            for expected in [nil, EnrolmentRefusal.notAuthorized] {
                let key = try P256PrivateKey.generate()
                let offer = try await world.begin(for: customer)
                let outcome = try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    .scaToken(
                        try await world.token(
                            offer.id, customer, key: key.publicKey.spki, jti: "once")))
                #expect(outcome.refusal == expected)
            }
            let body = try #require(try await world.bodies(.attemptFailed).first)
            #expect(body["reason"]?.text == "sca_token_spent")
            #expect(try await world.evidenceHolds())
        }
    }

    @Test(
        arguments: [
            ("sca_token_expired", -1, nil), ("sca_token_lifetime", 700, nil),
            ("sca_token_invalid", 300, "other key"),
        ] as [(String, Int64, String?)])
    func `a token that is not good now, or not from the bank`(
        reason: String, expiresIn: Int64, signer: String?
    ) async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            var token = try await world.token(
                offer.id, customer, key: key.publicKey.spki, expiresIn: expiresIn)
            if signer != nil {
                token = try CompactJWS.sign(
                    ["enrolment_id": .string(offer.id.text)], key: .ed25519(try .generate()))
            }
            let offered = OfferedCredential.deviceKey(try world.offered(key, offer.message))
            let outcome = try await world.finish(offer.id, customer, offered, .scaToken(token))
            #expect(outcome.refusal == .notAuthorized)
            let body = try #require(try await world.bodies(.attemptFailed).first)
            #expect(body["reason"]?.text == reason)
            // Spent by its first finish, and the customer is not charged for it.
            let again = try await world.finish(
                offer.id, customer, offered,
                .scaToken(try await world.token(offer.id, customer, key: key.publicKey.spki)))
            #expect(again.refusal == .consumed)
            #expect(try await world.count("SELECT sum(failures) FROM countersign.customer") == 0)
        }
    }

    @Test func `a question is answered once, for one enrolment and for one key`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let question = try await world.question(offer.id, customer, key: key.publicKey.spki)
            let answer = try phone.vouch(question)
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)), answer)
            #expect(outcome.credential != nil)

            // The same answer for another enrolment names no question of that one.
            let other = try P256PrivateKey.generate()
            let second = try await world.begin(for: customer)
            let replayed = try await world.finish(
                second.id, customer, .deviceKey(try world.offered(other, second.message)), answer)
            #expect(replayed.refusal == .notAuthorized)

            // And a good answer for another key than the one that is offered.
            let third = try await world.begin(for: customer)
            let asked = try await world.question(third.id, customer, key: key.publicKey.spki)
            let swapped = try await world.finish(
                third.id, customer, .deviceKey(try world.offered(other, third.message)),
                try phone.vouch(asked))
            #expect(swapped.refusal == .notAuthorized)
            #expect(
                try await world.bodies(.attemptFailed).compactMap { $0["reason"]?.text }
                    == ["authorization_challenge_not_live", "authorization_key_mismatch"])
            #expect(try await world.count("SELECT sum(failures) FROM countersign.customer") == 0)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `another question replaces the earlier one`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let first = try await world.question(offer.id, customer, key: key.publicKey.spki)
            _ = try await world.question(offer.id, customer, key: key.publicKey.spki)
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                try phone.vouch(first))
            #expect(outcome.refusal == .notAuthorized)
        }
    }

    @Test func `a stored question that was changed is not believed`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let (asked, offered) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
            let offer = try await world.begin(for: customer)
            let question = try await world.question(offer.id, customer, key: asked.publicKey.spki)
            // The column says the attacker's key, and what the customer signed says another.
            try await world.test.sql(
                """
                UPDATE countersign.enrolment_authorization
                   SET key_digest = '\\x\(sha256(offered.publicKey.spki).hex)'
                """)
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(offered, offer.message)),
                try phone.vouch(question))
            #expect(outcome.refusal == .authenticationFailed)
            #expect(try await world.recorded(.tamperDetected) == 1)
        }
    }

    @Test func `wrong answers count, and the fifth locks the customer`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            for round in 1...5 {
                let key = try P256PrivateKey.generate()
                let offer = try await world.begin(for: customer)
                let question = try await world.question(
                    offer.id, customer, key: key.publicKey.spki)
                let wrong = try Phone(key: .generate(), credential: phone.credential)
                let outcome = try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    try wrong.vouch(question))
                #expect(outcome.refusal == .authenticationFailed)
                let failures = try await world.count("SELECT failures FROM countersign.customer")
                #expect(failures == round % 5)
            }
            #expect(try await world.recorded(.customerLocked) == 1)
            #expect(try await world.recorded(.attemptFailed) == 5)
            let begun = try await world.service().beginEnrolment(
                BeginEnrolmentCommand(
                    client: world.client, customerID: customer, kind: .deviceKey,
                    label: try DisplayText("", .credentialLabel)))
            guard case .refused(.customerLocked) = begun else {
                Issue.record("\(begun)")
                return
            }
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `however many wrong answers come at once, five count and then none`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let wrong = try Phone(key: .generate(), credential: phone.credential)
            var attempts: [(EnrolmentOffer, AuthorizationChallenge, P256PrivateKey)] = []
            for _ in 0..<9 {
                let key = try P256PrivateKey.generate()
                let offer = try await world.begin(for: customer)
                let question = try await world.question(
                    offer.id, customer, key: key.publicKey.spki)
                attempts.append((offer, question, key))
            }
            let refusals = try await atOnce(attempts) { offer, question, key in
                try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    try wrong.vouch(question)
                ).refusal
            }
            #expect(refusals.count { $0 == .authenticationFailed } == 5)
            #expect(refusals.count { if case .customerLocked? = $0 { true } else { false } } == 4)
            #expect(try await world.recorded(.attemptFailed) == 5)
            #expect(try await world.recorded(.customerLocked) == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `a customer without an active key is asked nothing`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let offer = try await world.begin(for: customer)
            let outcome = try await world.service().beginAuthorization(
                customer: customer, enrolment: offer.id, keyDigest: sha256([1]))
            guard case .refused(.notAuthorized) = outcome else {
                Issue.record("\(outcome)")
                return
            }
        }
    }

    @Test func `a revoked key vouches for nothing`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let question = try await world.question(offer.id, customer, key: key.publicKey.spki)
            _ = try await world.revoke(phone.credential)
            // The question ended with the key; and the key, were it asked again, is no key.
            try await world.test.sql(
                "UPDATE countersign.enrolment_authorization SET spent_at = NULL")
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                try phone.vouch(question))
            #expect(outcome.refusal == .authenticationFailed)
            #expect(try await world.evidenceHolds())
        }
    }
}

/// Does the same for all inputs at once.
func atOnce<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], _ body: @escaping @Sendable (Input) async throws -> Output
) async throws -> [Output] {
    try await withThrowingTaskGroup(of: Output.self) { group in
        for input in inputs { group.addTask { try await body(input) } }
        var outputs: [Output] = []
        for try await output in group { outputs.append(output) }
        return outputs
    }
}
