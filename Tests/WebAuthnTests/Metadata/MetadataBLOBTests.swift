import Countersign
import Crypto
import TestSupport
import Testing

@testable import WebAuthn

/// FIDO Metadata Service 3.0, §3.1.6 and §3.2, on a synthetic list with the one thing wrong that the
/// test is about.
@Suite struct `The metadata of authenticators` {
    private func read(
        _ metadata: TestMetadata, at: Instant = Fixtures.at
    ) throws -> MetadataBLOB {
        try MetadataBLOB(try metadata.text(), root: metadata.root.certificate, at: at)
    }

    /// Why the list is refused; `nil` when it is read.
    private func refusal(
        _ metadata: TestMetadata, _ text: String? = nil, root: Certificate? = nil,
        at: Instant = Fixtures.at
    ) throws -> MetadataBLOB.Failure? {
        let text = try text ?? metadata.text()
        do throws(MetadataBLOB.Failure) {
            _ = try MetadataBLOB(text, root: root ?? metadata.root.certificate, at: at)
            return nil
        } catch {
            return error
        }
    }

    private func changed(_ change: (inout TestMetadata) -> Void) throws -> TestMetadata {
        var metadata = try TestMetadata()
        change(&metadata)
        return metadata
    }

    @Test func `is read when everything is right`() throws {
        let metadata = try TestMetadata()
        let blob = try read(metadata)
        #expect(blob.models.map(\.aaguid.text) == [TestMetadata.model])
        #expect(blob.models.map(\.certificates) == [[metadata.maker.certificate]])
    }

    /// Header, payload and signature.
    private func parts(_ metadata: TestMetadata) throws -> [String] {
        try metadata.text().split(separator: ".").map(String.init)
    }

    @Test func `needs the signature of its certificate's key over both parts`() throws {
        let metadata = try TestMetadata()
        let good = try parts(metadata)
        // Of the same root and key, with one thing changed.
        var other = metadata
        other.number = .integer(8)
        other.header = [JSON.Member("typ", "JWT")]
        let changed = try parts(other)
        let stranger = try parts(try TestMetadata())
        for parts in [
            [changed[0], good[1], good[2]], [good[0], changed[1], good[2]],
            [good[0], good[1], changed[2]], [good[0], good[1], stranger[2]],
            [good[0], good[1], ""],
        ] {
            #expect(try refusal(metadata, parts.joined(separator: ".")) == .signature)
        }
    }

    /// RFC 7518 §3.4 has r and s beside each other; DER is another way to write the same signature.
    @Test func `takes the signature in the one form of JOSE`() throws {
        let metadata = try TestMetadata()
        let signed = try metadata.signed()
        let der = try metadata.key.sign(Bytes(signed.utf8))
        #expect(
            try refusal(metadata, "\(signed).\(Base64.encodeURL(der))") == .signature)
    }

    @Test(arguments: ["RS256", "none", "HS256", "ES384", "es256", ""])
    func `takes no algorithm but that of the key`(algorithm: String) throws {
        let metadata = try changed { $0.algorithm = .string(algorithm) }
        #expect(try refusal(metadata) == .signature)
    }

    /// RFC 7515 §4.1.11: whoever does not understand what is critical refuses.
    @Test func `understands no critical header`() throws {
        let metadata = try changed { $0.header = [JSON.Member("crit", ["exp"])] }
        #expect(try refusal(metadata) == .malformed)
    }

    @Test(arguments: ["mds.fidoalliance.org.evil.example", "MDS.fidoalliance.org", "other.example"])
    func `is signed under the service's own name`(name: String) throws {
        let metadata = try changed { $0.signer = name }
        #expect(try refusal(metadata) == .untrusted)
    }

    @Test func `is signed under one name`() throws {
        let metadata = try changed {
            $0.leaf = { $0.subject += TestCertificate.name("other.example") }
        }
        #expect(try refusal(metadata) == .untrusted)
    }

    @Test func `leads to the root that the operator named`() throws {
        let stranger = try TestAuthority(root: "Synthetic metadata root")
        #expect(try refusal(try TestMetadata(), root: stranger.certificate) == .untrusted)
    }

    @Test func `needs a certificate that is valid when it is read`() throws {
        let metadata = try changed {
            $0.leaf = { $0.notAfter = Fixtures.at }
        }
        #expect(try refusal(metadata) == nil)
        #expect(try refusal(metadata, at: Fixtures.at + Seconds(1)) == .untrusted)
        let early = try changed { $0.leaf = { $0.notBefore = Fixtures.at + Seconds(1) } }
        #expect(try refusal(early) == .untrusted)
    }

    @Test func `is a compact JWS with certificates in its header`() throws {
        let metadata = try TestMetadata()
        let good = try metadata.text()
        let parts = try parts(metadata)
        for text in [
            "", ".", "..", "...", "no list", good + ".", good + ".AAAA", good + "=", good + "\n",
            "\(parts[0]).\(parts[1])", "\(parts[0]).*.\(parts[2])", "bm8.\(parts[1]).\(parts[2])",
        ] {
            #expect(try refusal(metadata, text) == .malformed)
        }
        func headed(_ header: JSON) throws -> String {
            try metadata.text("\(Base64.encodeURL(header.encoded)).\(parts[1])")
        }
        for header: JSON in [
            [:], ["alg": "ES256"], ["alg": "ES256", "x5c": []], ["alg": "ES256", "x5c": "MIIB"],
            ["alg": "ES256", "x5c": [.integer(1)]], ["alg": "ES256", "x5c": ["*"]],
        ] {
            #expect(try refusal(metadata, try headed(header)) == .malformed)
        }
        let unread = try headed(["alg": "ES256", "x5c": ["MIIB"]])
        #expect(try refusal(metadata, unread) == .untrusted)
        #expect(try refusal(try changed { $0.algorithm = nil }) == .malformed)
    }

    @Test func `needs a number, a day and entries`() throws {
        for metadata in [
            try changed { $0.number = nil }, try changed { $0.number = "7" },
            try changed { $0.nextUpdate = nil },
            try changed { $0.nextUpdate = .integer(20_260_201) },
            try changed { $0.nextUpdate = "2026-02-30" }, try changed { $0.nextUpdate = "soon" },
            try changed { $0.nextUpdate = "2026-02-01T00:00:00Z" },
            try changed { $0.entries = [:] }, try changed { $0.entries = .null },
        ] {
            #expect(try refusal(metadata) == .payload)
        }
    }

    /// An entry that cannot be read might be the one that says what was revoked.
    @Test func `is refused as a whole when a model's entry lacks a part`() throws {
        let id = JSON.string(TestMetadata.model)
        let statement: JSON = ["attestationRootCertificates": []]
        let good: JSON = ["aaguid": id, "statusReports": [], "metadataStatement": statement]
        #expect(try refusal(try changed { $0.entries = [good] }) == nil)
        // Without a statement there is nobody to trust.
        let bare: JSON = ["aaguid": id, "statusReports": []]
        #expect(try refusal(try changed { $0.entries = [good, bare] }) == nil)
        for entry: JSON in [
            ["aaguid": "no model", "statusReports": [], "metadataStatement": statement],
            ["aaguid": id, "metadataStatement": statement],
            ["aaguid": id, "statusReports": [:], "metadataStatement": statement],
            ["aaguid": id, "statusReports": [], "metadataStatement": [:]],
        ] {
            #expect(try refusal(try changed { $0.entries = [good, entry] }) == .payload)
        }
    }
}

@Suite struct `The models of the metadata` {
    private func read(
        _ entries: (TestMetadata) -> JSON
    ) throws -> (metadata: TestMetadata, blob: MetadataBLOB) {
        var metadata = try TestMetadata()
        metadata.entries = entries(metadata)
        let blob = try MetadataBLOB(
            try metadata.text(), root: metadata.root.certificate, at: Fixtures.at)
        return (metadata, blob)
    }

    @Test(arguments: [
        "REVOKED", "USER_VERIFICATION_BYPASS", "ATTESTATION_KEY_COMPROMISE",
        "USER_KEY_REMOTE_COMPROMISE", "USER_KEY_PHYSICAL_COMPROMISE",
    ])
    func `anchor nothing once they were reported`(status: String) throws {
        for statuses in [[status], [status, "FIDO_CERTIFIED"], ["FIDO_CERTIFIED", status]] {
            #expect(try read { [$0.entry(statuses)] }.blob.anchors.isEmpty)
        }
    }

    @Test func `anchor nothing under a report without a status`() throws {
        let blob = try read { metadata in
            var members: [JSON.Member] = []
            if case .object(let all) = metadata.entry([]) {
                members = all.filter { $0.name != "statusReports" }
            }
            return [.object(members + [JSON.Member("statusReports", [[:]])])]
        }.blob
        #expect(blob.anchors.isEmpty)
    }

    @Test(arguments: ["NOT_FIDO_CERTIFIED", "FIDO_CERTIFIED_L2", "UPDATE_AVAILABLE"])
    func `anchor their certificates under every other report`(status: String) throws {
        let (metadata, blob) = try read { [$0.entry([status])] }
        #expect(blob.anchors.map(\.certificate) == [metadata.maker.certificate])
    }

    @Test func `are those with an AAGUID; one that is reported leaves the others`() throws {
        let other = "11111111-1111-1111-1111-111111111111"
        let blob = try read {
            [
                ["aaid": "1234#5678", "statusReports": [["status": "FIDO_CERTIFIED"]]],
                ["attestationCertificateKeyIdentifiers": ["00"]],
                $0.entry(["REVOKED"], aaguid: other), $0.entry(["FIDO_CERTIFIED"]),
            ]
        }.blob
        #expect(blob.models.map(\.aaguid.text) == [TestMetadata.model])
    }

    @Test func `lose the certificates that cannot be read, and those alone`() throws {
        let (metadata, blob) = try read { metadata in
            [
                [
                    "aaguid": .string(TestMetadata.model), "statusReports": [],
                    "metadataStatement": [
                        "attestationRootCertificates": [
                            "MIIB", "*", .null,
                            .string(Base64.encode(metadata.maker.certificate.der)),
                        ]
                    ],
                ]
            ]
        }
        #expect(blob.models.map(\.certificates) == [[metadata.maker.certificate]])
    }

    @Test func `anchor for themselves alone, until the end of the day of the next update`() throws {
        let (metadata, blob) = try read { [$0.entry([])] }
        let model = try #require(AAGUID(text: TestMetadata.model))
        let end = try #require(Instant(text: "2026-02-02T00:00:00Z"))
        #expect(blob.nextUpdate == end)
        let anchor = AttestationAnchor(
            metadata.maker.certificate, format: nil, model: model, until: end)
        #expect(blob.anchors == [anchor])
        #expect(anchor.covers(.packed, model, at: Instant(milliseconds: end.milliseconds - 1)))
        #expect(!anchor.covers(.packed, model, at: end))
        #expect(!anchor.covers(.packed, .unknown, at: Fixtures.at))
    }
}
