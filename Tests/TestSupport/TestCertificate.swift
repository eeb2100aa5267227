package import Countersign
package import Crypto

/// A synthetic certificate, valid as it stands; a test changes the one thing that matters.
package struct TestCertificate {
    /// OIDs and texts of a name.
    package typealias Name = [(oid: String, value: String)]

    package var version: Int64 = 3
    package var serial: Int64 = 0x0ABC
    package var issuer: Name
    package var subject: Name
    package var notBefore = Instant(milliseconds: 1_704_067_200_000)
    package var notAfter = Instant(milliseconds: 2_019_686_400_000)
    package var spki: Bytes
    package var extensions: [Bytes] = []

    package init(subject: Name, issuer: Name, spki: Bytes) {
        self.subject = subject
        self.issuer = issuer
        self.spki = spki
    }

    /// A name of nothing but a common name.
    package static func name(_ common: String) -> Name { [("2.5.4.3", common)] }

    /// The DER, signed with ECDSA and SHA-256.
    package func signed(by key: P256PrivateKey) throws -> Bytes {
        let algorithm = DER.sequence(DER.oid("1.2.840.10045.4.3.2"))
        let body = DER.sequence(
            [
                DER.explicit(0, DER.integer(version &- 1)), DER.integer(serial), algorithm,
                Self.encode(issuer), DER.sequence(DER.time(notBefore), DER.time(notAfter)),
                Self.encode(subject), spki,
            ] + (extensions.isEmpty ? [] : [DER.explicit(3, DER.sequence(extensions))]))
        return DER.sequence(body, algorithm, DER.bits(try key.sign(body)))
    }

    private static func encode(_ name: Name) -> Bytes {
        DER.sequence(
            name.map { DER.set([DER.sequence(DER.oid($0.oid), DER.utf8($0.value))]) })
    }

    /// One extension.
    package static func ext(_ oid: String, critical: Bool = false, _ value: Bytes) -> Bytes {
        DER.sequence([DER.oid(oid)] + (critical ? [DER.boolean(true)] : []) + [DER.octets(value)])
    }

    /// basicConstraints of a CA.
    package static func authority(pathLength: Int64? = nil) -> Bytes {
        let length = pathLength.map { [DER.integer($0)] } ?? []
        return ext("2.5.29.19", critical: true, DER.sequence([DER.boolean(true)] + length))
    }

    /// authorityKeyIdentifier with nothing but the serial number of the issuer's certificate.
    package static func issuerSerial(_ serial: Int64) -> Bytes {
        let number = DER.integer(serial).dropFirst(2)
        return ext("2.5.29.35", DER.sequence(DER.element([0x82], Bytes(number))))
    }

    /// basicConstraints of somebody who is none.
    package static let noAuthority = ext("2.5.29.19", critical: true, DER.sequence())
}

/// A key with its certificate, self-signed or by another authority.
package struct TestAuthority: Sendable {
    package let subject: TestCertificate.Name
    package let key: P256PrivateKey
    package let certificate: Certificate

    /// A root that nobody but this test trusts.
    package init(root name: String = "Synthetic test root") throws {
        subject = TestCertificate.name(name)
        key = try P256PrivateKey.generate()
        certificate = try Self.certify(subject, key, by: subject, key)
    }

    /// An intermediate below `issuer`.
    package init(
        _ name: String, serialNumber: String? = nil, below issuer: TestAuthority,
        _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws {
        subject = TestCertificate.name(name) + (serialNumber.map { [("2.5.4.5", $0)] } ?? [])
        key = try P256PrivateKey.generate()
        certificate = try Self.certify(subject, key, by: issuer.subject, issuer.key, change)
    }

    private static func certify(
        _ subject: TestCertificate.Name, _ key: P256PrivateKey, by issuer: TestCertificate.Name,
        _ issuerKey: P256PrivateKey, _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws -> Certificate {
        var draft = TestCertificate(subject: subject, issuer: issuer, spki: key.publicKey.spki)
        draft.extensions = [TestCertificate.authority()]
        change(&draft)
        return try Certificate(der: try draft.signed(by: issuerKey))
    }

    /// A certificate of this authority about the key of `spki`.
    package func certify(
        _ spki: Bytes, name: String = "Synthetic leaf",
        _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws -> Certificate {
        var draft = TestCertificate(
            subject: TestCertificate.name(name), issuer: subject, spki: spki)
        change(&draft)
        return try Certificate(der: try draft.signed(by: key))
    }
}
