import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// WebAuthn L3 §7.1 steps 23 and 24.
@Suite struct `Trust in an attestation` {
    private func failure(
        _ maker: SyntheticMaker, _ statement: CBOR, _ policy: AttestationPolicy,
        format: String = "packed", at: Instant = Fixture.at
    ) -> VerificationFailure? {
        do {
            _ = try maker.attestation(format, statement, policy, at: at)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a chain to an anchor is believed, and the facts name it`() throws {
        let maker = try SyntheticMaker()
        let certificate = try maker.certificate()
        for trust in [AttestationPolicy.Trust.recorded, .required] {
            let attestation = try maker.attestation(
                "packed", try maker.packed(certificate), maker.trusting(trust))
            #expect(attestation.verdict == .basic)
            #expect(attestation.format == "packed")
            #expect(attestation.profiles == [.fidoTrusted])
            let facts = attestation.facts
            #expect(facts["aaguid"] == "00000000-0000-0000-0000-000000000000")
            #expect(facts["algorithm"] == "ES256")
            #expect(facts["attestation_type"] == "basic")
            #expect(facts["trust_anchor"] == "CN=Synthetic maker")
            #expect(facts["not_trusted_because"] == .null)
            #expect(facts["certificate"]?["serial"]?.text == certificate.serial)
            #expect(
                facts["certificate"]?["subject"]
                    == "C=DE, O=Maker, OU=Authenticator Attestation, CN=Model")
            // No attestation tells how the user is verified, and this format not where the key is.
            #expect(facts["not_proven"] == ["key_storage", "user_verification_method"])
        }
    }

    @Test func `without an anchor the statement is recorded as untrusted, or refused`() throws {
        let maker = try SyntheticMaker()
        let other = try SyntheticMaker()
        let statement = try maker.packed(try maker.certificate())
        let attestation = try maker.attestation("packed", statement, other.trusting(.recorded))
        #expect(attestation.verdict == .untrusted)
        #expect(attestation.profiles == [])
        #expect(attestation.facts["not_trusted_because"] == "att_untrusted")
        #expect(attestation.facts["trust_anchor"] == .null)
        #expect(
            attestation.facts["not_proven"] == [
                "aaguid", "key_storage", "user_verification_method",
            ])
        #expect(failure(maker, statement, other.trusting(.required)) == .attestationUntrusted)
        #expect(
            try maker.attestation("packed", statement, .untrusting).verdict == .untrusted)
    }

    @Test func `an anchor counts for its format and its model alone`() throws {
        let maker = try SyntheticMaker()
        let statement = try maker.packed(try maker.certificate())
        let model = try #require(AAGUID(Bytes(repeating: 1, count: 16)))
        #expect(failure(maker, statement, maker.trusting(.required, format: .packed)) == nil)
        #expect(failure(maker, statement, maker.trusting(.required, model: .unknown)) == nil)
        for policy in [
            maker.trusting(.required, format: .tpm), maker.trusting(.required, model: model),
            maker.trusting(.required, format: .packed, model: model),
        ] {
            #expect(failure(maker, statement, policy) == .attestationUntrusted)
        }
    }

    @Test func `nobody vouches for none and self, where somebody must`() throws {
        let maker = try SyntheticMaker()
        let signature = try maker.fixture.authenticator.key.sign(maker.toBeSigned)
        let own = CBOR.map([]).with("alg", CBOR(integer: -7)).with("sig", .bytes(signature))
        for (format, statement, verdict) in [
            ("none", CBOR.map([]), AttestationVerdict.absent), ("packed", own, .selfSigned),
        ] {
            #expect(
                failure(maker, statement, maker.trusting(.required), format: format)
                    == .attestationUntrusted)
            let attestation = try maker.attestation(
                format, statement, maker.trusting(.recorded))
            #expect(attestation.verdict == verdict)
            #expect(attestation.profiles == [])
            #expect(attestation.facts["certificate"] == nil)
        }
    }

    @Test func `certificates are judged at the instant of the registration`() throws {
        let maker = try SyntheticMaker()
        let certificate = try maker.certificate()
        let statement = try maker.packed(certificate)
        let instants: [(Instant, Bool)] = [
            (certificate.notBefore, true), (certificate.notAfter, true),
            (Instant(milliseconds: certificate.notBefore.milliseconds - 1), false),
            (Instant(milliseconds: certificate.notAfter.milliseconds + 1000), false),
        ]
        for (instant, isValid) in instants {
            #expect(
                failure(maker, statement, maker.trusting(.required), at: instant)
                    == (isValid ? nil : .attestationCertificateExpired))
        }
        let late = try maker.attestation(
            "packed", statement, maker.trusting(.recorded), at: instants[3].0)
        #expect(late.verdict == .untrusted)
        #expect(late.facts["not_trusted_because"] == "att_cert_expired")
    }

    @Test func `a certificate that did not issue the one before it breaks the chain`() throws {
        let maker = try SyntheticMaker()
        let leaf = try maker.certificate()
        let other = try SyntheticMaker()
        for extra in [leaf, other.root.certificate] {
            let statement = try maker.packed(leaf).replacing(
                "x5c", .array([.bytes(leaf.der), .bytes(extra.der)]))
            // Also where nobody need be trusted: that is no statement which is in order.
            for policy in [maker.trusting(.required), maker.trusting(.recorded), .untrusting] {
                #expect(failure(maker, statement, policy) == .attestationChainBroken)
            }
        }
        let whole = try maker.packed(leaf).replacing(
            "x5c", .array([.bytes(leaf.der), .bytes(maker.root.certificate.der)]))
        #expect(failure(maker, whole, maker.trusting(.required)) == nil)
    }

    @Test func `a false statement is refused whatever is trusted`() throws {
        let maker = try SyntheticMaker()
        let statement = try maker.packed(try maker.certificate()).replacing("sig", .bytes([1]))
        for policy in [maker.trusting(.recorded), maker.trusting(.required), .untrusting] {
            #expect(failure(maker, statement, policy) == .attestationSignatureInvalid)
        }
    }

    @Test func `an anchor counts until newer metadata is due`() throws {
        let maker = try SyntheticMaker()
        let statement = try maker.packed(try maker.certificate())
        let due = maker.trusting(.required, until: Fixture.at)
        #expect(failure(maker, statement, due) == .attestationUntrusted)
        let later = maker.trusting(.required, until: Fixture.at + Seconds(1))
        #expect(failure(maker, statement, later) == nil)
    }

    @Test func `the service records what it is told to trust`() throws {
        let maker = try SyntheticMaker()
        let verifier = CustomerProofVerifier(
            relyingParty: maker.fixture.relyingParty, payments: nil, algorithms: [.es256],
            attestation: maker.trusting(.recorded), devices: .unconfigured)
        #expect(verifier.policy.userVerification == .required)
        #expect(verifier.policy.userPresence == .required)
        #expect(verifier.policy.algorithms == [.es256])
        #expect(VerifierPolicy.service.attestation == .untrusting)
    }
}

@Suite struct `The model of an authenticator` {
    @Test func `is written as a UUID and read back`() throws {
        let text = "08987058-cadc-4b81-b6e1-30de50dcbe96"
        let model = try #require(AAGUID(text: text))
        #expect(model.text == text)
        #expect(AAGUID(text: text.uppercased()) == model)
        #expect(AAGUID(model.bytes) == model)
        for wrong in [
            "", "08987058cadc4b81b6e130de50dcbe96", text + "0", "-" + text,
            "08987058-cadc-4b81-b6e1-30de50dcbe9g", "0898705-8cadc-4b81-b6e1-30de50dcbe96",
        ] {
            #expect(AAGUID(text: wrong) == nil)
        }
        #expect(AAGUID(Bytes(repeating: 0, count: 15)) == nil)
    }
}
