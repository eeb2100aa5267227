import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// Structures of a TPM in software: good until a test changes a part.
struct TPMDraft {
    /// TPMT_PUBLIC, field by field.
    var publicArea: [(name: String, bytes: Bytes)]
    /// TPMS_ATTEST, field by field; `nil` stands for what follows from the rest.
    var certifyInfo: [(name: String, bytes: Bytes?)]
    /// TPM_ALG_SHA256 with the hash of ``publicArea``.
    var keyName: Bytes { [0x00, 0x0B] + sha256(publicArea.flatMap(\.bytes)).bytes }

    init(_ key: P256PublicKey) {
        publicArea = [
            ("type", [0x00, 0x23]), ("nameAlg", [0x00, 0x0B]), ("attributes", [0, 0x04, 0, 0x72]),
            ("authPolicy", [0, 2, 1, 2]), ("symmetric", [0, 0x10]), ("scheme", [0, 0x10]),
            ("curve", [0, 3]), ("kdf", [0, 0x10]), ("x", Self.sized(Bytes(key.x963[1..<33]))),
            ("y", Self.sized(Bytes(key.x963[33..<65]))),
        ]
        certifyInfo = [
            ("magic", [0xFF, 0x54, 0x43, 0x47]), ("type", [0x80, 0x17]), ("signer", [0, 1, 9]),
            ("extraData", nil), ("clock", Bytes(repeating: 7, count: 17)),
            ("firmware", Bytes(repeating: 8, count: 8)), ("name", nil), ("qualified", [0, 0]),
        ]
    }

    static func sized(_ bytes: Bytes) -> Bytes {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    mutating func area(_ name: String, _ bytes: Bytes) {
        publicArea = publicArea.map { $0.name == name ? (name, bytes) : $0 }
    }

    mutating func info(_ name: String, _ bytes: Bytes) {
        certifyInfo = certifyInfo.map { $0.name == name ? (name, bytes) : $0 }
    }

    func encodedInfo(_ toBeSigned: Bytes) -> Bytes {
        certifyInfo.flatMap { field in
            field.bytes
                ?? Self.sized(field.name == "name" ? keyName : sha256(toBeSigned).bytes)
        }
    }
}

/// WebAuthn L3 §8.3, one rule after the other.
@Suite struct `The attestation format tpm` {
    private static let moduleName: TestCertificate.Name = [
        ("2.23.133.2.1", "id:4E544300"), ("2.23.133.2.2", "NPCT75x"), ("2.23.133.2.3", "id:13"),
    ]

    private func alternativeName(_ name: TestCertificate.Name) -> Bytes {
        let names = DER.sequence(
            name.map { DER.set([DER.sequence(DER.oid($0.oid), DER.utf8($0.value))]) })
        return TestCertificate.ext(
            "2.5.29.17", critical: true, DER.sequence(DER.explicit(4, names)))
    }

    private func usage(_ oid: String = "2.23.133.8.3") -> Bytes {
        TestCertificate.ext("2.5.29.37", DER.sequence(DER.oid(oid)))
    }

    private func certificate(
        _ maker: SyntheticMaker, _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws -> Certificate {
        try maker.certificate {
            $0.subject = []
            $0.extensions = [
                TestCertificate.noAuthority, usage(), alternativeName(Self.moduleName),
            ]
            change(&$0)
        }
    }

    private func statement(
        _ maker: SyntheticMaker, _ certificate: Certificate? = nil,
        _ change: (inout TPMDraft) -> Void = { _ in }
    ) throws -> CBOR {
        var draft = TPMDraft(maker.fixture.authenticator.key.publicKey)
        change(&draft)
        let info = draft.encodedInfo(maker.toBeSigned)
        let leaf = try certificate ?? self.certificate(maker)
        return CBOR.map([]).with("ver", .text("2.0")).with("alg", CBOR(integer: -7))
            .with("sig", .bytes(try maker.key.sign(info))).with("certInfo", .bytes(info))
            .with("pubArea", .bytes(draft.publicArea.flatMap(\.bytes)))
            .with("x5c", .array([.bytes(leaf.der)]))
    }

    @Test func `a good one tells the module`() throws {
        let maker = try SyntheticMaker()
        let attestation = try maker.attestation(
            "tpm", try statement(maker), maker.trusting(.required))
        #expect(attestation.verdict == .attestationCA)
        #expect(attestation.profiles == [.fidoTrusted])
        #expect(attestation.facts["tpm"]?["manufacturer"] == "id:4E544300")
        #expect(attestation.facts["tpm"]?["model"] == "NPCT75x")
        #expect(attestation.facts["tpm"]?["fixed_to_this_tpm"] == .bool(true))
    }

    @Test func `the key that the TPM describes is the new one`() throws {
        let maker = try SyntheticMaker()
        let other = TPMDraft(maker.key.publicKey)
        #expect(
            maker.refusal("tpm", try statement(maker) { $0.publicArea = other.publicArea })
                == .attestationPublicKeyMismatch)
    }

    @Test func `the key that the TPM certifies is the one that it describes`() throws {
        let maker = try SyntheticMaker()
        let draft = TPMDraft(maker.fixture.authenticator.key.publicKey)
        let digest = Bytes(draft.keyName.dropFirst(2))
        for name in [[], [0x00, 0x0B], digest, [0x00, 0x0C] + digest, draft.keyName + [0]] {
            #expect(
                maker.refusal("tpm", try statement(maker) { $0.info("name", TPMDraft.sized(name)) })
                    == .attestationPublicKeyMismatch)
        }
    }

    @Test func `what the TPM certifies carries the hash of what is attested`() throws {
        let maker = try SyntheticMaker()
        let digest = sha256(maker.toBeSigned).bytes
        for data in [[], Bytes(digest.dropLast()), sha256(digest).bytes, maker.toBeSigned] {
            #expect(
                maker.refusal(
                    "tpm", try statement(maker) { $0.info("extraData", TPMDraft.sized(data)) })
                    == .attestationNonceMismatch)
        }
    }

    @Test func `it is the TPM's own statement, of a certified key`() throws {
        let maker = try SyntheticMaker()
        let changes: [(String, Bytes)] = [
            ("magic", [0xFF, 0x54, 0x43, 0x48]), ("magic", [0, 0, 0, 0]),
            // TPM_ST_ATTEST_CREATION, …QUOTE.
            ("type", [0x80, 0x1A]), ("type", [0x80, 0x18]), ("qualified", [0, 0, 0]),
            ("qualified", [0, 1]), ("clock", Bytes(repeating: 7, count: 16)),
        ]
        for (name, bytes) in changes {
            let failure = maker.refusal("tpm", try statement(maker) { $0.info(name, bytes) })
            #expect(failure == .attestationStatementMalformed, "\(name)")
        }
    }

    @Test func `the description of the key has no other form`() throws {
        let maker = try SyntheticMaker()
        let changes: [(String, Bytes)] = [
            ("type", [0, 0x01]), ("type", [0, 0x08]), ("nameAlg", [0, 0x04]),
            ("nameAlg", [0, 0x10]), ("symmetric", [0, 0x06, 0, 128, 0, 0x43]),
            ("scheme", [0, 0x1A, 0, 0x0B, 0, 0]), ("scheme", [0, 0x16, 0, 0x0B]),
            ("curve", [0, 5]), ("curve", [0, 4]), ("kdf", [0, 0x20, 0, 0x0B]),
            ("authPolicy", [0xFF, 0xFF]), ("y", TPMDraft.sized(Bytes(repeating: 1, count: 33))),
            ("y", TPMDraft.sized(Bytes(repeating: 0, count: 32))), ("y", [0, 32]),
        ]
        for (name, bytes) in changes {
            let failure = maker.refusal("tpm", try statement(maker) { $0.area(name, bytes) })
            #expect(failure == .attestationStatementMalformed, "\(name)")
        }
        let explicit = try statement(maker) { $0.area("scheme", [0, 0x18, 0, 0x0B]) }
        #expect(maker.refusal("tpm", explicit) == nil)
    }

    @Test func `no truncation or extension of a structure is read`() throws {
        let maker = try SyntheticMaker()
        let good = try statement(maker)
        for name in ["pubArea", "certInfo"] {
            let bytes = try #require(good[name]?.bytes)
            for changed in (0..<bytes.count).map({ Bytes(bytes.prefix($0)) }) + [bytes + [0]] {
                #expect(
                    maker.refusal("tpm", good.replacing(name, .bytes(changed)))
                        == .attestationStatementMalformed)
            }
        }
    }

    @Test func `its signature is by the certificate's key`() throws {
        let maker = try SyntheticMaker()
        let good = try statement(maker)
        let info = try #require(good["certInfo"]?.bytes)
        let other = try maker.fixture.authenticator.key.sign(info)
        for signature in [other, [], try maker.key.sign(maker.toBeSigned)] {
            #expect(
                maker.refusal("tpm", good.replacing("sig", .bytes(signature)))
                    == .attestationSignatureInvalid)
        }
        for number: Int64 in [-8, -36, 0] {
            #expect(
                maker.refusal("tpm", good.replacing("alg", CBOR(integer: number)))
                    == .attestationAlgorithmMismatch)
        }
        // RS256 has the same hash, and the certificate's key is of another kind.
        #expect(
            maker.refusal("tpm", good.replacing("alg", CBOR(integer: -257)))
                == .attestationAlgorithmMismatch)
        let wrong: [(String, CBOR?)] = [
            ("ver", nil), ("ver", .text("1.2")), ("alg", nil), ("sig", nil), ("certInfo", nil),
            ("pubArea", nil), ("x5c", nil), ("x5c", .array([])),
        ]
        for (name, value) in wrong {
            #expect(
                maker.refusal("tpm", good.replacing(name, value))
                    == .attestationStatementMalformed, "\(name)")
        }
    }

    @Test func `its certificate is one of a TPM's attestation key`() throws {
        let maker = try SyntheticMaker()
        func without(_ oid: String, _ value: String? = nil) -> Bytes {
            let rest = Self.moduleName.filter { $0.oid != oid }
            return alternativeName(rest + (value.map { [(oid, $0)] } ?? []))
        }
        let plain = TestCertificate.noAuthority
        let wrong: [[Bytes]] = [
            [plain, usage()], [plain, alternativeName(Self.moduleName)],
            [plain, usage("1.3.6.1.5.5.7.3.2"), alternativeName(Self.moduleName)],
            [TestCertificate.authority(), usage(), alternativeName(Self.moduleName)],
            [plain, usage(), without("2.23.133.2.1")], [plain, usage(), without("2.23.133.2.2")],
            [plain, usage(), without("2.23.133.2.3")],
            [plain, usage(), without("2.23.133.2.1", "4E544300")],
            [plain, usage(), without("2.23.133.2.1", "id:4E5443")],
        ]
        for extensions in wrong {
            let leaf = try certificate(maker) { $0.extensions = extensions }
            #expect(
                maker.refusal("tpm", try statement(maker, leaf)) == .attestationCertificateInvalid)
        }
        let named = try certificate(maker) { $0.subject = TestCertificate.name("somebody") }
        #expect(
            maker.refusal("tpm", try statement(maker, named)) == .attestationCertificateInvalid)
        let model = TestCertificate.ext(
            SyntheticMaker.aaguidExtension, DER.octets(Bytes(repeating: 1, count: 16)))
        let foreign = try certificate(maker) { $0.extensions.append(model) }
        #expect(maker.refusal("tpm", try statement(maker, foreign)) == .attestationModelMismatch)
    }
}
