import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// WebAuthn L3 §8.8, one rule after the other.
@Suite struct `The attestation format apple` {
    private let nonceExtension = "1.2.840.113635.100.8.2"

    private func statement(
        _ maker: SyntheticMaker, key: Bytes? = nil, _ extensions: [Bytes]
    ) throws -> CBOR {
        let spki = key ?? maker.fixture.authenticator.key.publicKey.spki
        let certificate = try maker.root.certify(spki) { $0.extensions = extensions }
        return CBOR.map([]).with("x5c", .array([.bytes(certificate.der)]))
    }

    private func nonce(_ bytes: Bytes) -> Bytes {
        TestCertificate.ext(nonceExtension, DER.sequence(DER.explicit(1, DER.octets(bytes))))
    }

    @Test func `its certificate holds the hash of what is attested`() throws {
        let maker = try SyntheticMaker()
        let good = sha256(maker.toBeSigned).bytes
        #expect(maker.refusal("apple", try statement(maker, [nonce(good)])) == nil)
        for wrong in [[], Bytes(good.dropLast()), sha256(good).bytes, maker.toBeSigned] {
            #expect(
                maker.refusal("apple", try statement(maker, [nonce(wrong)]))
                    == .attestationNonceMismatch)
        }
    }

    @Test func `its certificate holds that hash once and in its form`() throws {
        let maker = try SyntheticMaker()
        let good = sha256(maker.toBeSigned).bytes
        let forms = [
            DER.sequence(DER.explicit(2, DER.octets(good))), DER.sequence(DER.octets(good)),
            DER.octets(good), DER.sequence(DER.explicit(1, DER.octets(good)), DER.null()),
            good, [],
        ]
        for extensions in [[], [nonce(good), nonce(good)]]
            + forms.map({ [TestCertificate.ext(nonceExtension, $0)] })
        {
            #expect(
                maker.refusal("apple", try statement(maker, extensions))
                    == .attestationCertificateInvalid)
        }
        #expect(maker.refusal("apple", .map([])) == .attestationStatementMalformed)
    }

    @Test func `its certificate's key is the new one`() throws {
        let maker = try SyntheticMaker()
        let good = sha256(maker.toBeSigned).bytes
        #expect(
            maker.refusal(
                "apple", try statement(maker, key: maker.key.publicKey.spki, [nonce(good)]))
                == .attestationPublicKeyMismatch)
    }
}
