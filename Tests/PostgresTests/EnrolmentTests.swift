import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing
import WebAuthn

@Suite struct `Enrolling a key in Postgres` {
    @Test func `a first device key with a token of the identity system`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let token = try await world.token(offer.id, customer, key: key.publicKey.spki)
            let offered = try world.offered(
                key, offer.message,
                attestation: try DeviceAttestation(format: "android-key", certificates: [[1, 2]]))
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(offered), .scaToken(token))

            let credential = try #require(outcome.credential)
            #expect(credential.kind == .deviceKey && credential.status == .active)
            #expect(credential.label == "Phone")
            #expect(
                credential.attestation
                    == .init(
                        verdict: .unverified, format: "android-key", statement: [[1, 2]]))
            let stored = try await world.count(
                """
                SELECT count(*) FROM countersign.credential_attestation
                 WHERE credential_id = '\(credential.id.text)' AND statement = '{"\\\\x0102"}'
                   AND profiles = '{}' AND facts::text = '{}' AND app_attest_key IS NULL
                """)
            #expect(stored == 1)
            #expect(credential.assurance == .biometricClaimed)
            #expect(credential.usableAt == credential.createdAt + Seconds(43_200))
            let listed = try await world.service().credentials(of: customer)
            #expect(listed.map(\.json) == [credential.json])

            let records = try await world.evidence()
            let enrolled = try #require(records.first { $0.kind == "credential.enrolled" })
            let announced = try await world.count(
                """
                SELECT count(*) FROM countersign.credential c
                  JOIN countersign.credential_announcement a ON a.credential_id = c.id
                 WHERE c.evidence_id = '\(enrolled.id.text)' AND c.seq = 1
                   AND c.head = (SELECT leaf_hash FROM countersign.evidence
                                  WHERE id = c.evidence_id)
                   AND c.platform = 'ios'
                """)
            #expect(announced == 1)
            #expect(try await world.evidenceHolds())
            let body = try #require(try await world.bodies(.credentialEnrolled).first)
            #expect(body.bytes("public_key") == key.publicKey.spki)
            #expect(body.bytes("message") == offer.message)
            #expect(body["proof"]?.bytes("signature") == offered.signature)
            #expect(body["attachment"]?["authorization"]?["token"]?.text == token)
            #expect(body["authorization"] == ["kind": "sca_token"])
            #expect(body["client_id"]?.text == world.client.text)
        }
    }

    @Test func `a passkey, and a second one that the first vouches for`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let flags: AuthenticatorFlags = [
                .userPresent, .userVerified, .backupEligible, .backupState,
            ]
            let first = try SoftwareAuthenticator.create(
                relyingPartyID: EnrolmentWorld.relyingParty, entropy: .openSSL)
            let offer = try await world.begin(.passkey, for: customer, label: "Key")
            let options = try #require(offer.webauthn)
            #expect(options.bytes("challenge") == sha256(offer.message).bytes)
            let handle = try #require(options["user"]?.bytes("id"))
            #expect(handle.count == 64)
            let registration = first.register(
                challenge: sha256(offer.message).bytes, origin: EnrolmentWorld.origin, flags: flags,
                signCount: 1)
            let enrolled = try await world.finish(
                offer.id, customer, .passkey(registration),
                .scaToken(try await world.token(offer.id, customer, key: first.key.publicKey.spki)))
            let credential = try #require(enrolled.credential)
            #expect(credential.attestation.verdict == .absent && credential.signatureFormat == nil)
            #expect(credential.attestation.statement == [registration.attestationObject])
            #expect(credential.backupEligible && credential.backupState)
            #expect(credential.attestation.format == "none")
            #expect(credential.assurance == .userVerificationUnspecified)

            // The second is offered the same user handle and excludes the first.
            let second = try SoftwareAuthenticator.create(
                relyingPartyID: EnrolmentWorld.relyingParty, entropy: .openSSL)
            let next = try await world.begin(.passkey, for: customer, label: "Other")
            #expect(next.webauthn?["user"]?.bytes("id") == handle)
            #expect(
                next.webauthn?["excludeCredentials"]
                    == [.string(Base64.encodeURL(first.credentialID))])
            #expect(next.webauthn?["transports"] == [["internal"]])
            let question = try await world.question(
                next.id, customer, key: second.key.publicKey.spki)
            #expect(question.webauthn?.bytes("challenge") == sha256(question.message).bytes)
            let assertion = try first.assert(
                challenge: sha256(question.message).bytes, origin: EnrolmentWorld.origin,
                flags: [.userPresent, .userVerified, .backupEligible], signCount: 7,
                userHandle: handle)
            let vouched = try await world.finish(
                next.id, customer,
                .passkey(
                    second.register(
                        challenge: sha256(next.message).bytes, origin: EnrolmentWorld.origin,
                        flags: flags, signCount: 0)),
                .assertion(challenge: question.id, .passkey(assertion)))
            let other = try #require(vouched.credential)
            let state = try await world.count(
                """
                SELECT count(*) FROM countersign.credential WHERE id = '\(credential.id.text)'
                   AND sign_count = 7 AND NOT backup_state AND seq = 3
                """)
            #expect(state == 1)
            #expect(
                try await world.service().credentials(of: customer).map(\.id)
                    == [credential.id, other.id])
            #expect(try await world.recorded(.credentialAuthorized) == 1)
            // It was copied when it was made, and is not any more.
            let change: JSON = ["new": .bool(false), "old": .bool(true)]
            #expect(try await world.bodies(.credentialBackupStateChanged) == [change])
            #expect(try await world.evidenceHolds())
            try await expectKeptBeside(world, question.message, voucher: first.key.publicKey.spki)
        }
    }

    /// What is long is kept beside the newest enrolment's body, which commits to it, and so in no bundle.
    private func expectKeptBeside(
        _ world: EnrolmentWorld, _ message: Bytes, voucher: Bytes
    ) async throws {
        let body = try #require(try await world.bodies(.credentialEnrolled).last)
        #expect(body["authorization"] == ["kind": "assertion"])
        let attachment = try #require(body["attachment"])
        #expect(attachment["authorization"]?.bytes("message") == message)
        #expect(attachment["authorization"]?.bytes("public_key") == voucher)
        #expect(attachment.bytes("attestation_object") != nil)
        #expect(body["proof"]?["attestation_object"] == nil)
    }

    @Test func `a stored message that was changed is not believed, and is told`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let forged = EnrolmentMessage(
                audience: EnrolmentWorld.relyingParty, customerID: try CustomerID("c-2"),
                enrolmentID: offer.id, expiresAt: offer.expiresAt,
                nonce: Bytes(repeating: 1, count: 32)
            ).bytes
            try await world.test.sql(
                """
                UPDATE countersign.enrolment
                   SET message = '\\x\(Hex.encode(forged))' WHERE id = '\(offer.id.text)'
                """)
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, forged)),
                .scaToken(try await world.token(offer.id, customer, key: key.publicKey.spki)))
            #expect(outcome.refusal == .authenticationFailed)
            #expect(try await world.recorded(.tamperDetected) == 1)
            #expect(try await world.evidenceHolds())
        }
    }

    @Test func `an enrolment that has expired`() async throws {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            let key = try P256PrivateKey.generate()
            let offer = try await world.begin(for: customer)
            let token = try await world.token(offer.id, customer, key: key.publicKey.spki)
            try await world.test.sql(
                "UPDATE countersign.enrolment SET expires_at = clock_timestamp()")
            let outcome = try await world.finish(
                offer.id, customer, .deviceKey(try world.offered(key, offer.message)),
                .scaToken(token))
            #expect(outcome.refusal == .expired)
            let evidence = try await world.evidence()
            #expect(evidence.isEmpty)
        }
    }

    @Test func `the enrolment of another customer is not found`() async throws {
        try await EnrolmentWorld.with { world in
            let offer = try await world.begin(for: try EnrolmentWorld.customer())
            _ = try await world.begin(for: try CustomerID("c-2"))
            let key = try P256PrivateKey.generate()
            let outcome = try await world.finish(
                offer.id, try CustomerID("c-2"), .deviceKey(try world.offered(key, offer.message)),
                .none, firstEnrolment: .mayBeUnauthorized)
            #expect(outcome.refusal == .notFound)
        }
    }

    @Test func `nobody vouches only under the development flag, and only for a first key`()
        async throws
    {
        try await EnrolmentWorld.with { world in
            let customer = try EnrolmentWorld.customer()
            func attempt(_ rule: FirstEnrolmentRule) async throws -> FinishOutcome {
                let key = try P256PrivateKey.generate()
                let offer = try await world.begin(for: customer)
                return try await world.finish(
                    offer.id, customer, .deviceKey(try world.offered(key, offer.message)), .none,
                    firstEnrolment: rule)
            }
            #expect(try await attempt(.needsAuthorization).refusal == .notAuthorized)
            let first = try #require(try await attempt(.mayBeUnauthorized).credential)
            #expect(try await attempt(.mayBeUnauthorized).refusal == .notAuthorized)
            // A key that is gone has been there.
            _ = try await world.revoke(first.id)
            #expect(try await attempt(.mayBeUnauthorized).refusal == .notAuthorized)
            #expect(try await world.evidenceHolds())
        }
    }
}
