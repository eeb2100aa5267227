import Countersign
import Crypto
import TestSupport
import Testing

@Suite struct `A certificate` {
    private let key = Result { try P256PrivateKey.generate() }

    /// OpenSSL reads any number as the version, up to the largest there is.
    @Test(arguments: [Int64.min, .max, 0, -1, 4])
    func `of a version that does not exist is none`(version: Int64) throws {
        let key = try key.get()
        var draft = TestCertificate(
            subject: TestCertificate.name("Subject"), issuer: TestCertificate.name("Issuer"),
            spki: key.publicKey.spki)
        draft.version = version
        let der = try draft.signed(by: key)
        #expect(throws: CertificateError.malformed) { _ = try Certificate(der: der) }
    }

    @Test func `says what its issuer wrote`() throws {
        let key = try key.get()
        var draft = TestCertificate(
            subject: [
                ("2.5.4.6", "AA"), ("2.5.4.10", "Bank"), ("2.5.4.11", "Authenticator Attestation"),
                ("2.5.4.3", "Zähler"), ("2.5.4.5", "f920"),
            ],
            issuer: TestCertificate.name("Issuer"), spki: key.publicKey.spki)
        draft.serial = 0x0ABC
        let directory = DER.sequence(
            DER.set([
                DER.sequence(DER.oid("2.23.133.2.1"), DER.utf8("id:FFFFF1D0")),
                DER.sequence(DER.oid("2.23.133.2.2"), DER.utf8("model")),
            ]),
            DER.set([DER.sequence(DER.oid("2.23.133.2.3"), DER.utf8("id:1"))]))
        draft.extensions = [
            TestCertificate.noAuthority,
            TestCertificate.ext("2.5.29.37", DER.sequence(DER.oid("2.23.133.8.3"))),
            TestCertificate.ext(
                "2.5.29.17", critical: true, DER.sequence(DER.explicit(4, directory))),
            TestCertificate.ext("1.3.6.1.4.1.45724.1.1.4", DER.octets([1, 2, 3])),
            TestCertificate.ext("1.2.3.4", critical: true, [5, 0]),
            TestCertificate.ext("1.2.3.4", [5, 0]),
        ]
        let der = try draft.signed(by: key)
        let certificate = try Certificate(der: der)
        #expect(certificate.der == der)
        #expect(certificate.version == 3)
        #expect(certificate.serial == "abc")
        #expect(certificate.subject[.country] == "AA")
        #expect(certificate.subject[.organization] == "Bank")
        #expect(certificate.subject[.organizationalUnit] == "Authenticator Attestation")
        #expect(certificate.subject[.commonName] == "Zähler")
        #expect(certificate.subject[.serialNumber] == "f920")
        #expect(
            certificate.subject.text
                == "C=AA,O=Bank,OU=Authenticator Attestation,CN=Zähler,serialNumber=f920")
        #expect(certificate.issuer[.commonName] == "Issuer")
        #expect(certificate.issuer[.country] == nil)
        #expect(certificate.notBefore.text == "2024-01-01T00:00:00Z")
        #expect(certificate.notAfter.text == "2034-01-01T00:00:00Z")
        #expect(!certificate.isSelfIssued)
        #expect(certificate.isCA == false)
        #expect(certificate.extendedKeyUsages == ["2.23.133.8.3"])
        let tpm = try #require(certificate.alternativeDirectoryNames.first)
        #expect(tpm[.tpmManufacturer] == "id:FFFFF1D0")
        #expect(tpm[.tpmModel] == "model")
        #expect(tpm[.tpmVersion] == "id:1")
        #expect(certificate.spki == key.publicKey.spki)
        #expect(certificate.publicKey == PublicKey(key.publicKey))
        let aaguid = certificate.extensions("1.3.6.1.4.1.45724.1.1.4")
        #expect(aaguid.map(\.value) == [[4, 3, 1, 2, 3]])
        #expect(aaguid.map(\.isCritical) == [false])
        #expect(certificate.extensions("1.2.3.4").map(\.isCritical) == [true, false])
        #expect(certificate.extensions("1.2.3.5").isEmpty)
    }

    /// A name is shown to whoever has to decide whom to believe.
    @Test func `has a name that is shown as nothing else`() throws {
        let key = try key.get()
        let draft = TestCertificate(
            subject: [("2.5.4.3", "tsa,O=Bank\n\u{1B}[2J\u{202E}"), ("1.2.3", "x")],
            issuer: TestCertificate.name("Issuer"), spki: key.publicKey.spki)
        let certificate = try Certificate(der: try draft.signed(by: key))
        #expect(
            certificate.subject.text == #"CN=tsa\2cO\3dBank\0a\1b[2J\e2\80\ae,1.2.3=x"#)
    }

    @Test func `without extensions says nothing of them`() throws {
        let root = try TestAuthority()
        let certificate = try root.certify(root.key.publicKey.spki)
        #expect(certificate.isCA == nil)
        #expect(certificate.extendedKeyUsages == nil)
        #expect(certificate.alternativeDirectoryNames.isEmpty)
        #expect(certificate.extensions.isEmpty)
        #expect(root.certificate.isSelfIssued)
        #expect(root.certificate.isCA == true)
    }

    @Test func `is one certificate in DER and nothing else`() throws {
        let der = try TestAuthority().certificate.der
        #expect(throws: CertificateError.malformed) { try Certificate(der: der + [0]) }
        #expect(throws: CertificateError.malformed) { try Certificate(der: der + der) }
        for count in stride(from: 0, to: der.count, by: 5) {
            #expect(throws: CertificateError.malformed) {
                try Certificate(der: Bytes(der.prefix(count)))
            }
        }
        // Indefinite length around the same three parts.
        let header = der[1] == 0x82 ? 4 : 3
        let indefinite = [0x30, 0x80] + der.dropFirst(header) + [0, 0]
        #expect(throws: CertificateError.malformed) { try Certificate(der: Bytes(indefinite)) }
        #expect(throws: CertificateError.malformed) {
            try Certificate(der: DER.sequence(Bytes(repeating: 0, count: Certificate.bytesMax)))
        }
    }

    @Test func `with repeated or undecodable constraints is malformed`() throws {
        let root = try TestAuthority()
        for oid in ["2.5.29.19", "2.5.29.37", "2.5.29.17"] {
            #expect(throws: CertificateError.malformed, "\(oid)") {
                try root.certify(root.key.publicKey.spki) {
                    $0.extensions = [TestCertificate.ext(oid, [1, 2, 3])]
                }
            }
        }
        #expect(throws: CertificateError.malformed) {
            try root.certify(root.key.publicKey.spki) {
                $0.extensions = [TestCertificate.noAuthority, TestCertificate.authority()]
            }
        }
    }

    @Test func `reads back from PEM, alone or in a file of several`() throws {
        let one = try TestAuthority().certificate
        let two = try TestAuthority(root: "Second").certificate
        func pem(_ certificate: Certificate) -> String {
            "-----BEGIN CERTIFICATE-----\n\(Base64.encode(certificate.der))\n"
                + "-----END CERTIFICATE-----\n"
        }
        #expect(try Certificate(pem: pem(one)) == one)
        #expect(throws: CertificateError.malformed) { try Certificate(pem: pem(one) + pem(two)) }
        let file = "A comment\n" + pem(one) + "\r\nanother\n" + pem(two)
        #expect(try Certificate.all(pem: file) == [one, two])
        #expect(try Certificate.all(pem: "nothing").isEmpty)
        for broken in [
            file + "-----BEGIN CERTIFICATE-----\nAAAA", file + pem(one).replacing("M", with: "!"),
            "-----END CERTIFICATE-----\n", pem(one).replacing("-----END", with: "----END"),
        ] {
            #expect(throws: CertificateError.malformed) { try Certificate.all(pem: broken) }
        }
    }

    @Test func `knows whose signature it bears`() throws {
        let root = try TestAuthority()
        let twin = try TestAuthority()
        let leaf = try root.certify(root.key.publicKey.spki)
        #expect(leaf.isSigned(by: root.certificate))
        #expect(!leaf.isSigned(by: twin.certificate))
        var der = leaf.der
        der[der.count - 1] ^= 1
        #expect(try !Certificate(der: der).isSigned(by: root.certificate))
    }

    @Test func `of a key of another kind has no public key`() throws {
        let tool = try OpenSSLTool()
        try tool.run("req -x509 -newkey ed448 -nodes -keyout k -subj /CN=x -outform DER -out c")
        let certificate = try Certificate(der: try tool.read("c"))
        #expect(certificate.publicKey == nil)
        #expect(!certificate.spki.isEmpty)
    }

    @Test func `of every published anchor is read`() throws {
        guard let index = try Cases.document("anchors/index.json"),
            case .object(let anchors) = index
        else { return }
        for anchor in anchors {
            let pem = try #require(Cases.bytes("anchors/\(anchor.name).pem"))
            let certificate = try Certificate(pem: String(decoding: pem, as: UTF8.self))
            #expect(sha256(certificate.der).hex == anchor.value["sha256"]?.text)
            #expect(
                certificate.notAfter.text
                    == anchor.value["notAfter"]?.text?.replacing("+00:00", with: "Z"))
        }
    }
}
