import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// WebAuthn L3 §8.6, one rule after the other.
@Suite struct `The attestation format fido-u2f` {
    private func message(_ maker: SyntheticMaker, prefix: UInt8 = 0) -> Bytes {
        [prefix] + sha256(Bytes("bank.example".utf8)).bytes
            + sha256(maker.fixture.clientData("webauthn.create")).bytes
            + maker.fixture.authenticator.credentialID
            + maker.fixture.authenticator.key.publicKey.x963
    }

    private func statement(_ maker: SyntheticMaker, _ message: Bytes) throws -> CBOR {
        CBOR.map([]).with("sig", .bytes(try maker.key.sign(message)))
            .with("x5c", .array([.bytes(try maker.certificate().der)]))
    }

    @Test func `its signature is over application, challenge, key handle and key`() throws {
        let maker = try SyntheticMaker()
        let good = message(maker)
        #expect(maker.refusal("fido-u2f", try statement(maker, good)) == nil)
        let wrong = [
            message(maker, prefix: 5), good + [0], Bytes(good.dropLast()), maker.toBeSigned,
        ]
        for message in wrong {
            #expect(
                maker.refusal("fido-u2f", try statement(maker, message))
                    == .attestationSignatureInvalid)
        }
    }

    @Test func `it proves neither the model nor where the key is, whoever is trusted`() throws {
        let maker = try SyntheticMaker()
        let attestation = try maker.attestation(
            "fido-u2f", try statement(maker, message(maker)), maker.trusting(.required))
        #expect(attestation.verdict == .basic && attestation.profiles == [])
        #expect(
            attestation.facts["not_proven"] == [
                "aaguid", "key_storage", "user_verification_method",
            ])
    }

    @Test func `it has exactly one certificate`() throws {
        let maker = try SyntheticMaker()
        let good = try statement(maker, message(maker))
        let certificate = CBOR.bytes(try maker.certificate().der)
        let root = CBOR.bytes(maker.root.certificate.der)
        let wrong: [(String, CBOR?)] = [
            ("x5c", nil), ("x5c", .array([])), ("x5c", .array([certificate, root])),
            ("x5c", certificate), ("x5c", .array([.text("")])), ("sig", nil), ("sig", .null),
        ]
        for (name, value) in wrong {
            #expect(
                maker.refusal("fido-u2f", good.replacing(name, value))
                    == .attestationStatementMalformed)
        }
    }

    @Test func `its certificate's key and the new key are of P-256`() throws {
        let maker = try SyntheticMaker()
        let ed25519 = try Ed25519PrivateKey.generate().publicKey
        let certificate = try maker.root.certify(ed25519.spki)
        let good = try statement(maker, message(maker))
        #expect(
            maker.refusal("fido-u2f", good.replacing("x5c", .array([.bytes(certificate.der)])))
                == .attestationCertificateInvalid)
        var fixture = maker.fixture
        fixture.policy = .service(
            algorithms: COSEAlgorithm.allCases, attestation: .untrusting)
        let response = fixture.attested(
            "fido-u2f", good, data: fixture.newData(key: COSEKey.encode(ed25519)))
        #expect(fixture.refusal(response) == .attestationAlgorithmMismatch)
    }
}
