package import Countersign
package import Crypto

/// A synthetic edition of the FIDO Metadata Service's list, below a root that nobody but this test
/// trusts: good until a test changes the one thing that matters.
package struct TestMetadata {
    package static let model = "01020304-0506-0708-090a-0b0c0d0e0f10"

    package let root: TestAuthority
    package let maker: TestAuthority
    /// Signs the list.
    package let key: P256PrivateKey

    /// The common name in the signer's certificate.
    package var signer = "mds.fidoalliance.org"
    /// How the signer's certificate is made.
    package var leaf: (inout TestCertificate) -> Void = { _ in }
    package var algorithm: JSON? = "ES256"
    /// Put into the header beside its algorithm and certificates.
    package var header: [JSON.Member] = []
    package var number: JSON? = .integer(7)
    package var nextUpdate: JSON? = "2026-02-01"
    /// `nil` for one good model.
    package var entries: JSON?

    package init() throws {
        root = try TestAuthority(root: "Synthetic metadata root")
        maker = try TestAuthority(root: "Synthetic maker")
        key = try P256PrivateKey.generate()
    }

    /// One model of ``maker``, with what is reported about it.
    package func entry(_ statuses: [String], aaguid: String = model) -> JSON {
        [
            "aaguid": .string(aaguid),
            "statusReports": .array(statuses.map { ["status": .string($0)] }),
            "metadataStatement": [
                "attestationRootCertificates": [.string(Base64.encode(maker.certificate.der))]
            ],
        ]
    }

    /// The payload's bytes.
    package var payload: Bytes {
        let members = [
            ("no", number), ("nextUpdate", nextUpdate),
            ("entries", entries ?? [entry(["FIDO_CERTIFIED_L1"])]),
        ]
        return JSON.object(
            members.compactMap { name, value in value.map { JSON.Member(name, $0) } }
        ).encoded
    }

    /// What is signed: header and payload.
    package func signed() throws -> String {
        let certificate = try root.certify(key.publicKey.spki, name: signer, leaf)
        var members = [JSON.Member("x5c", [.string(Base64.encode(certificate.der))])]
        if let algorithm { members.append(JSON.Member("alg", algorithm)) }
        let head = JSON.object(members + header).encoded
        return "\(Base64.encodeURL(head)).\(Base64.encodeURL(payload))"
    }

    /// The whole list, as the operator's file has it.
    package func text() throws -> String { try text(signed()) }

    /// With a good signature over something else than ``signed()`` makes. Source: RFC 7518 §3.4.
    package func text(_ signed: String) throws -> String {
        guard let signature = P256Signature(der: try key.sign(Bytes(signed.utf8))) else {
            preconditionFailure("the test's own key signs in DER")
        }
        return "\(signed).\(Base64.encodeURL(signature.raw))"
    }
}
