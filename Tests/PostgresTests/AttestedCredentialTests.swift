import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

@Suite struct `What is stored with a key` {
    private static let attestation = Attestation(
        verdict: .basic, format: "app-attest", statement: [[0xA0, 0], [1]],
        facts: ["a": ["list", .integer(-1), .null], "z": "last"],
        profiles: [.appAttest, .androidBiometric], appAttestKey: [9, 9])

    private func enrol(
        _ world: EnrolmentWorld, _ verifier: AttestingVerifier, format: SignatureFormat = .der
    ) async throws -> (Phone, FinishOutcome) {
        let customer = try EnrolmentWorld.customer()
        let key = try P256PrivateKey.generate()
        let offer = try await world.begin(for: customer)
        let der = try key.sign(offer.message)
        let signature = format == .der ? der : try #require(P256Signature(der: der)).raw
        let outcome = try await world.service(store: world.credentials, verifier: verifier)
            .finishEnrolment(
                FinishEnrolmentCommand(
                    client: world.client, customerID: customer, enrolmentID: offer.id,
                    offered: .deviceKey(
                        OfferedDeviceKey(
                            publicKey: key.publicKey.pem, signature: signature,
                            signatureFormat: format, platform: nil, attestation: nil)),
                    authorization: .scaToken(
                        try await world.token(offer.id, customer, key: key.publicKey.spki))))
        let id = outcome.credential?.id ?? ID(rawValue: 0)
        return (Phone(key: key, credential: id), outcome)
    }

    private func decide(
        _ world: EnrolmentWorld, _ question: Question, _ verifier: some AssertionVerifier,
        _ assertion: UnverifiedAssertion
    ) async throws -> DecisionOutcome {
        let decide = DecideAction(store: world.actions, verifier: verifier, sha256: .openSSL)
        return try await decide(
            DecideCommand(
                action: question.action, decision: .approve,
                proof: .signed(challenge: question.challenge, assertion)))
    }

    private func stored(
        _ world: EnrolmentWorld, _ question: Question, _ phone: Phone
    ) async throws -> StoredDeviceKey? {
        let context = try await world.actions.load(
            action: question.action, challenge: question.challenge,
            credential: .id(phone.credential))
        guard case .deviceKey(let key)? = context?.credential?.stored else { return nil }
        return key
    }

    @Test func `is what its maker said, as it came, and what was made of it`() async throws {
        try await EnrolmentWorld.with { world in
            let verifier = AttestingVerifier(
                base: world.verifier, attestation: Self.attestation)
            let (phone, outcome) = try await enrol(world, verifier)
            let credential = try #require(outcome.credential)
            #expect(credential.assurance == .biometricAttested)
            let listed = try #require(
                try await world.service().credentials(of: credential.customerID).first)
            #expect(listed.json == credential.json)
            #expect(listed.json["attestation"]?["facts"] == Self.attestation.facts)
            #expect(listed.attestation.profiles == Self.attestation.profiles)
            #expect(listed.attestation.appAttestKey == [9, 9])
            let rows = try await world.count(
                """
                SELECT count(*) FROM countersign.credential_attestation
                 WHERE credential_id = '\(phone.credential.text)' AND cardinality(statement) = 2
                   AND statement[1] = '\\xa000' AND statement[2] = '\\x01'
                """)
            #expect(rows == 1)
            let context = try #require(
                try await world.credentials.loadForRevocation(phone.credential))
            #expect(context.credential.json == credential.json)
            let body = try #require(try await world.bodies(.credentialEnrolled).first)
            #expect(body["attachment"]?["facts"] == Self.attestation.facts)
            #expect(body["assurance"] == "biometric-attested")
            #expect(try await world.evidenceHolds())
        }
    }

    @Test(arguments: [
        "UPDATE countersign.credential_attestation SET profiles = '{app-attest}'",
        "DELETE FROM countersign.credential_attestation",
        "TRUNCATE countersign.credential_attestation",
    ])
    func `never changes`(sql: String) async throws {
        try await EnrolmentWorld.with(connections: 2) { world in
            _ = try await enrol(
                world, AttestingVerifier(base: world.verifier, attestation: Self.attestation))
            await #expect(throws: StoreFailure.internalFailure(code: "CS001")) {
                try await world.test.sql(sql)
            }
        }
    }

    @Test func `is the counter of App Attest, which an approval without one leaves alone`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            var verifier = AttestingVerifier(
                base: world.verifier, attestation: Self.attestation)
            let (phone, outcome) = try await enrol(world, verifier)
            let customer = try #require(outcome.credential).customerID
            try await world.importPayee(customer)
            for (counter, expected) in [(nil, 0), (7, 7), (nil, 7), (8, 8)] as [(UInt32?, UInt32)] {
                verifier.counter = counter
                let question = try await world.create(customer, try world.transfer("1.00"))
                let decided = try await decide(
                    world, question, verifier, try phone.sign(question.approve))
                #expect(decided.action?.authorization == .approved)
                let key = try await stored(world, question, phone)
                #expect(key?.appAttest == StoredAppAttest(key: [9, 9], counter: expected))
            }
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `is the format of its signatures: the other is none, from enrolment to the order`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let verifier = AttestingVerifier(base: world.verifier, attestation: .absent)
            let (phone, outcome) = try await enrol(world, verifier, format: .raw)
            let credential = try #require(outcome.credential)
            #expect(credential.signatureFormat == .raw)
            #expect(credential.json["signature_format"] == "raw")
            try await world.importPayee(credential.customerID)
            let question = try await world.create(
                credential.customerID, try world.transfer("1.00"))
            let der = try phone.key.sign(question.approve)
            let raw = try #require(P256Signature(der: der)).raw
            func answer(_ signature: Bytes) async throws -> DecisionOutcome {
                try await decide(
                    world, question, world.verifier,
                    .deviceKey(credential: phone.credential, signature: signature))
            }
            #expect(try await answer(der).refusal == .authenticationFailed)
            #expect(try await answer(raw).action?.authorization == .approved)

            let queue = PostgresDeliveryQueue(database: world.database, sealer: world.sealer)
            let claims = try await queue.claim(limit: 10, lease: Seconds(600))
            guard case .credential(let announcement)? = claims.first?.item else {
                Issue.record("no announcement")
                return
            }
            #expect(announcement.signatureFormat == .raw)
            try await world.announceAll()
            guard
                case .order(let order)? = try await queue.claim(limit: 10, lease: Seconds(600))
                    .first?.item,
                case .customer(let assertion) = order.approval
            else {
                Issue.record("no order")
                return
            }
            let sent = JSON(recorded: Bytes(assertion.json.encoded))
            #expect(sent?["signature_format"] == "raw")
            #expect(sent?["signature"] == .string(Base64.encode(raw)))
            let body = try #require(try await world.bodies(.actionApproved).first)
            #expect(body["signature_format"] == "raw")
            #expect(body["assertion"]?.bytes("signature") == raw)
            #expect(body["assurance"] == "biometric-claimed" && body["profiles"] == [])
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `decides at enrolment and at every decision, under the policy of the day`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let attested = AttestingVerifier(
                base: world.verifier, attestation: Self.attestation)
            let bare = AttestingVerifier(base: world.verifier, attestation: .absent)
            let (plain, first) = try await enrol(world, bare)
            let (phone, second) = try await enrol(world, attested)
            #expect(first.credential != nil && second.credential != nil)
            try await world.test.policy([
                "{required_attestation}": """
                {"transfer": ["app-attest"], "new_payee": ["app-attest"],
                 "contact_change": ["app-attest"]}
                """
            ])
            #expect(try await enrol(world, bare).1.refusal == .attestationRefused)
            let spent = try #require(try await world.bodies(.attemptFailed).first)
            #expect(spent["reason"] == "policy_not_met" && spent["stage"] == "attestation")
            #expect(spent["counted"] == .bool(false))

            let customer = try EnrolmentWorld.customer()
            try await world.importPayee(customer)
            let question = try await world.create(customer, try world.transfer("1.00"))
            let refused = try await decide(
                world, question, world.verifier, try plain.sign(question.approve))
            let demand = CredentialDemand(
                kinds: [.deviceKey, .passkey], profiles: [.appAttest], backupEligible: true)
            #expect(refused.refusal == .policy(.credentialNotAllowed(demand)))
            let again = try await world.create(customer, try world.transfer("1.00"))
            let approved = try await decide(
                world, again, world.verifier, try phone.sign(again.approve))
            #expect(approved.action?.authorization == .approved)

            let body = try #require(try await world.bodies(.actionRefused).first)
            #expect(body["policy"]?["verdict"]?["profiles"] == ["app-attest"])
            #expect(body["policy"]?["inputs"]?["credential_profiles"] == "")
            let good = try #require(try await world.bodies(.actionApproved).first)
            let names: JSON = ["app-attest", "android-biometric"]
            #expect(
                good["policy"]?["inputs"]?["credential_profiles"]
                    == "app-attest,android-biometric")
            #expect(good["policy"]?["inputs"]?["credential_backup_eligible"] == "false")
            #expect(good["profiles"] == names && good["assurance"] == "biometric-attested")
            #expect(try await world.evidenceHolds())
        }
    }
}
