import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

@Suite struct `Enrolments at once` {
    @Test func `one enrolment finished sixteen times gives one credential`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let offered = OfferedCredential.deviceKey(try world.offered(key, offer.message))
            let token = try await world.token(offer.id, customer, key: key.publicKey.spki)
            let outcomes = try await atOnce(Array(0..<16)) { _ in
                try await world.finish(offer.id, customer, offered, .scaToken(token))
            }
            #expect(outcomes.count { $0.credential != nil } == 1)
            #expect(outcomes.count { $0.refusal == .consumed } == 15)
            #expect(try await world.count("SELECT count(*) FROM countersign.credential") == 1)
            #expect(try await world.recorded(.credentialEnrolled) == 1)
            #expect(try await world.recorded(.attemptFailed) == 0)
        }
    }

    @Test func `sixteen good keys for one enrolment give one credential`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let offer = try await world.begin(for: customer)
            let outcomes = try await atOnce(Array(0..<16)) { _ in
                let key = try P256PrivateKey.generate()
                return try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    .scaToken(
                        try await world.token(offer.id, customer, key: key.publicKey.spki)))
            }
            #expect(outcomes.count { $0.credential != nil } == 1)
            #expect(outcomes.count { $0.refusal == .consumed } == 15)
            #expect(try await world.count("SELECT count(*) FROM countersign.credential") == 1)
            #expect(try await world.count("SELECT count(*) FROM countersign.sca_token") == 1)
        }
    }

    @Test func `one public key for many customers at once is enrolled for one of them`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let key = try P256PrivateKey.generate()
            var offers: [(CustomerID, EnrolmentOffer)] = []
            for number in 1...12 {
                let customer = try CustomerID("c-\(number)")
                offers.append((customer, try await world.begin(for: customer)))
            }
            let outcomes = try await atOnce(offers) { customer, offer in
                try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    .scaToken(
                        try await world.token(offer.id, customer, key: key.publicKey.spki)))
            }
            #expect(outcomes.count { $0.credential != nil } == 1)
            #expect(outcomes.count { $0.refusal == .credentialExists } == 11)
            #expect(try await world.count("SELECT count(*) FROM countersign.credential") == 1)
            let unspent = "SELECT count(*) FROM countersign.enrolment WHERE spent_at IS NULL"
            #expect(try await world.count(unspent) == 0)
            #expect(try await world.recorded(.attemptFailed) == 11)
            #expect(try await world.evidenceHolds())
        }
    }

    /// WebAuthn L3 §7.1 step 26.
    @Test func `one credential ID for two customers is enrolled for the first`() async throws {
        try await EnrolmentWorld.with { world in
            let id = EntropySource.openSSL(32)
            for number in 1...2 {
                let customer = try CustomerID("c-\(number)")
                let passkey = SoftwareAuthenticator(
                    relyingPartyID: EnrolmentWorld.relyingParty, credentialID: id,
                    key: try .generate())
                let offer = try await world.begin(.passkey, for: customer, label: "Key")
                let outcome = try await world.finish(
                    offer.id, customer,
                    .passkey(
                        passkey.register(
                            challenge: sha256(offer.message).bytes, origin: EnrolmentWorld.origin,
                            flags: [.userPresent, .userVerified], signCount: 0)),
                    .scaToken(
                        try await world.token(
                            offer.id, customer, key: passkey.key.publicKey.spki)))
                #expect((outcome.credential != nil) == (number == 1))
                #expect(outcome.refusal == (number == 1 ? nil : .credentialExists))
            }
            #expect(try await world.count("SELECT count(*) FROM countersign.credential") == 1)
        }
    }

    @Test(arguments: [1, 12])
    func `one token name in many finishes at once counts for one of them`(customers: Int)
        async throws
    {
        try await EnrolmentWorld.with { world in
            var offers: [(CustomerID, EnrolmentOffer)] = []
            for number in 0..<10 {
                let customer = try CustomerID("c-\(number % customers)")
                offers.append((customer, try await world.begin(for: customer)))
            }
            let outcomes = try await atOnce(offers) { customer, offer in
                let key = try P256PrivateKey.generate()
                return try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                    .scaToken(
                        try await world.token(
                            offer.id, customer, key: key.publicKey.spki, jti: "once")))
            }
            #expect(outcomes.count { $0.credential != nil } == 1)
            #expect(outcomes.count { $0.refusal == .notAuthorized } == 9)
            #expect(try await world.count("SELECT count(*) FROM countersign.credential") == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `one answer to one question in many finishes at once counts once`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let phone = try await world.enrolled(customer)
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let question = try await world.question(offer.id, customer, key: key.publicKey.spki)
            let answer = try phone.vouch(question)
            let outcomes = try await atOnce(Array(0..<16)) { _ in
                try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)), answer)
            }
            #expect(outcomes.count { $0.credential != nil } == 1)
            #expect(outcomes.count { $0.refusal == .consumed } == 15)
            #expect(try await world.recorded(.credentialAuthorized) == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `ten enrolments are open at most, and a customer is made known once`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let command = BeginEnrolmentCommand(
                client: world.client, customerID: try EnrolmentWorld.customer(), kind: .deviceKey,
                label: try DisplayText("", .credentialLabel))
            let outcomes = try await atOnce(Array(0..<16)) { _ in
                try await world.service().beginEnrolment(command)
            }
            #expect(outcomes.count { if case .begun = $0 { true } else { false } } == 10)
            #expect(
                outcomes.count {
                    if case .refused(.tooManyOpen(Seconds(300))) = $0 { true } else { false }
                } == 6)
            #expect(try await world.count("SELECT count(*) FROM countersign.customer") == 1)
            #expect(try await world.count("SELECT count(*) FROM countersign.enrolment") == 10)
        }
    }
}

extension Seconds {
    fileprivate static func ~= (pattern: Seconds, value: Seconds) -> Bool { pattern == value }
}
