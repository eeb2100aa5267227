import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// WebAuthn L3 §8.2, one rule after the other; self attestation is in `RegistrationTests`.
@Suite struct `The attestation format packed` {
    @Test func `its signature is by the certificate's key over these bytes`() throws {
        let maker = try SyntheticMaker()
        let good = try maker.packed(try maker.certificate())
        #expect(maker.refusal("packed", good) == nil)
        let other = try P256PrivateKey.generate()
        for signature in [
            try other.sign(maker.toBeSigned), try maker.key.sign(maker.fixture.newData()), [],
            try maker.key.sign(maker.toBeSigned) + [0],
        ] {
            #expect(
                maker.refusal("packed", good.replacing("sig", .bytes(signature)))
                    == .attestationSignatureInvalid)
        }
    }

    @Test func `its statement has all its parts in their types`() throws {
        let maker = try SyntheticMaker()
        let good = try maker.packed(try maker.certificate())
        let wrong: [(String, CBOR?)] = [
            ("alg", nil), ("alg", .text("-7")), ("sig", nil), ("sig", .text("sig")),
            ("x5c", .array([])), ("x5c", .bytes([1])), ("x5c", .array([.text("")])),
            ("ecdaaKeyId", .bytes([1])),
        ]
        for (name, value) in wrong {
            #expect(
                maker.refusal("packed", good.replacing(name, value))
                    == .attestationStatementMalformed, "\(name)")
        }
        #expect(
            maker.refusal("packed", good.replacing("x5c", .array([.bytes([0x30, 0])])))
                == .attestationCertificateInvalid)
    }

    @Test func `its algorithm is the certificate's`() throws {
        let maker = try SyntheticMaker()
        let good = try maker.packed(try maker.certificate())
        // SHA-1 is for TPMs alone, and an unknown algorithm is nobody's.
        for number: Int64 in [-8, -35, -257, -65535, -36, 0] {
            #expect(
                maker.refusal("packed", good.replacing("alg", CBOR(integer: number)))
                    == .attestationAlgorithmMismatch)
        }
    }

    @Test func `its certificate names country, organisation, unit and model`() throws {
        let maker = try SyntheticMaker()
        let changes: [(String, String?)] = [
            ("2.5.4.6", nil), ("2.5.4.6", "DEU"), ("2.5.4.10", nil), ("2.5.4.11", nil),
            ("2.5.4.11", "authenticator attestation"), ("2.5.4.11", "Sales"), ("2.5.4.3", nil),
        ]
        for (oid, value) in changes {
            let certificate = try maker.certificate {
                $0.subject.removeAll { $0.oid == oid }
                if let value { $0.subject.append((oid, value)) }
            }
            #expect(
                maker.refusal("packed", try maker.packed(certificate))
                    == .attestationCertificateInvalid, "\(oid)")
        }
    }

    @Test func `its certificate is of version 3 and no CA's`() throws {
        let maker = try SyntheticMaker()
        let authority = try maker.certificate { $0.extensions = [TestCertificate.authority()] }
        let old = try maker.certificate {
            $0.version = 1
            $0.extensions = []
        }
        for certificate in [authority, old] {
            #expect(
                maker.refusal("packed", try maker.packed(certificate))
                    == .attestationCertificateInvalid)
        }
        // RFC 5280 §4.2.1.9: without basicConstraints it is none.
        let plain = try maker.certificate { $0.extensions = [] }
        #expect(maker.refusal("packed", try maker.packed(plain)) == nil)
    }

    @Test func `its certificate's model is the authenticator's`() throws {
        let maker = try SyntheticMaker()
        func refusal(_ extensions: [Bytes]) throws -> VerificationFailure? {
            let certificate = try maker.certificate {
                $0.extensions = [TestCertificate.noAuthority] + extensions
            }
            return maker.refusal("packed", try maker.packed(certificate))
        }
        func model(_ value: Bytes, critical: Bool = false) -> Bytes {
            TestCertificate.ext(SyntheticMaker.aaguidExtension, critical: critical, value)
        }
        let right = DER.octets(AAGUID.unknown.bytes)
        #expect(try refusal([]) == nil)
        #expect(try refusal([model(right)]) == nil)
        #expect(try refusal([model(DER.octets([1]))]) == .attestationModelMismatch)
        #expect(
            try refusal([model(DER.octets(Bytes(repeating: 1, count: 16)))])
                == .attestationModelMismatch)
        #expect(try refusal([model(right, critical: true)]) == .attestationCertificateInvalid)
        #expect(try refusal([model(right), model(right)]) == .attestationCertificateInvalid)
        #expect(try refusal([model(AAGUID.unknown.bytes)]) == .attestationCertificateInvalid)
    }

    @Test func `every flipped bit of what it attests is refused`() throws {
        let maker = try SyntheticMaker()
        let statement = try maker.packed(try maker.certificate())
        for changed in mutations(of: maker.fixture.newData()) {
            let response = maker.fixture.attested("packed", statement, data: changed)
            #expect(maker.fixture.refusal(response) != nil)
        }
    }
}
