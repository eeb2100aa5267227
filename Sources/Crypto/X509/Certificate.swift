package import Countersign

/// One extension of a certificate. Source: RFC 5280 §4.2.
package struct CertificateExtension: Hashable, Sendable {
    /// In dotted decimal form.
    package let oid: String
    /// Whether who does not know the extension must refuse the certificate.
    package let isCritical: Bool
    /// The content of extnValue, itself DER.
    package let value: Bytes
    /// Whether OpenSSL acts on it when it judges a chain.
    let isProcessed: Bool
}

/// One X.509 certificate as parsed by OpenSSL. What it says is only believed after its chain was judged:
/// ``CertificateChain``.
package struct Certificate: Sendable {
    /// The longest certificate that is read; one of an RSA-4096 key has about 1500 bytes, one of ML-DSA
    /// about 6000.
    package static let bytesMax = 16_384

    /// The bytes as they came.
    package let der: Bytes
    /// 1, 2 or 3.
    package let version: Int
    /// The serial number in lower-case hexadecimal without leading zeros.
    package let serial: String
    /// Whom the certificate is about.
    package let subject: DistinguishedName
    /// Who signed it, by its own word.
    package let issuer: DistinguishedName
    /// The first second in which it is valid.
    package let notBefore: Instant
    /// The last second in which it is valid. Source: RFC 5280 §4.1.2.5.
    package let notAfter: Instant
    /// Whether subject and issuer are one name, as of a root.
    package let isSelfIssued: Bool
    /// SubjectPublicKeyInfo in DER.
    package let spki: Bytes
    /// What basicConstraints say of being a CA; `nil` without that extension.
    package let isCA: Bool?
    /// The OIDs of extKeyUsage; `nil` without that extension.
    package let extendedKeyUsages: [String]?
    /// The directory names of subjectAltName, such as those of a TPM.
    package let alternativeDirectoryNames: [DistinguishedName]
    /// Every extension in its order.
    package let extensions: [CertificateExtension]
    let handle: X509Handle

    /// Reads exactly one certificate in DER.
    package init(der: Bytes) throws(CertificateError) {
        guard der.count <= Self.bytesMax, let handle = X509Handle(der: der),
            (1...3).contains(handle.version), let subject = handle.subject,
            let issuer = handle.issuer, let validity = handle.validity,
            let extensions = handle.extensions
        else { throw .malformed }
        self.der = der
        self.handle = handle
        version = handle.version
        serial = handle.serial
        self.subject = DistinguishedName(subject)
        self.issuer = DistinguishedName(issuer)
        notBefore = Instant(milliseconds: validity.notBefore * 1000)
        notAfter = Instant(milliseconds: validity.notAfter * 1000)
        isSelfIssued = handle.isSelfIssued
        spki = handle.spki
        self.extensions = extensions
        isCA = try Self.optional(handle.basicConstraints)
        extendedKeyUsages = try Self.optional(handle.extendedKeyUsages)
        alternativeDirectoryNames = (try Self.optional(handle.alternativeDirectoryNames) ?? [])
            .map(DistinguishedName.init)
    }

    /// Reads PEM of exactly one certificate.
    package init(pem: String) throws(CertificateError) {
        guard let der = PEM.decode(pem, label: "CERTIFICATE", unitsMax: Self.bytesMax * 2) else {
            throw .malformed
        }
        try self.init(der: der)
    }

    /// Every certificate of a PEM file, in its order. Text between the blocks is ignored.
    package static func all(pem: String) throws(CertificateError) -> [Certificate] {
        guard let blocks = PEM.decodeAll(pem, label: "CERTIFICATE", unitsMax: pemUnitsMax) else {
            throw .malformed
        }
        var certificates: [Certificate] = []
        for der in blocks { certificates.append(try Certificate(der: der)) }
        return certificates
    }

    /// Every certificate of a PEM file that names whom to believe, of which there is at least one.
    package static func anchors(pem: Bytes) throws(AnchorsFault) -> [Certificate] {
        let anchors: [Certificate]
        do throws(CertificateError) {
            anchors = try all(pem: String(decoding: pem, as: UTF8.self))
        } catch {
            throw .unreadable
        }
        guard !anchors.isEmpty else { throw .none }
        return anchors
    }

    /// Why a file names nobody to believe; the raw value follows the file's name in a sentence.
    package enum AnchorsFault: String, Error, Sendable {
        case unreadable = "has a certificate that cannot be read"
        case none = "has no certificate in PEM"
    }

    /// The longest PEM file of ``all(pem:)``.
    package static let pemUnitsMax = 4 << 20

    private static func optional<Value>(
        _ decoded: X509Handle.Decoded<Value>
    ) throws(CertificateError) -> Value? {
        switch decoded {
        case .absent: nil
        case .malformed: throw .malformed
        case .present(let value): value
        }
    }

    /// The certified key, when it is of a kind that this service accepts.
    package var publicKey: PublicKey? {
        do {
            return try PublicKey(spki: spki)
        } catch {
            // Other kinds of keys are certified too; whoever needs the key refuses then.
            return nil
        }
    }

    /// The extensions of that OID. More than one is against RFC 5280 §4.2, and for the caller to judge.
    package func extensions(_ oid: String) -> [CertificateExtension] {
        extensions.filter { $0.oid == oid }
    }

    /// Whether the key of `issuer` made the signature; names and dates are not looked at.
    package func isSigned(by issuer: Certificate) -> Bool { handle.isSigned(by: issuer.handle) }

    /// Whether `issuer` is named as the issuer and its key made the signature; dates are not looked at.
    package func isIssued(by issuer: Certificate) -> Bool {
        handle.names(asIssuer: issuer.handle) && isSigned(by: issuer)
    }

    /// Whether this is `other` or another edition of it: the same name and key, signed by that key.
    ///
    /// Without its signature anybody could write a certificate of a root's name and public key.
    package func isEdition(of other: Certificate) -> Bool {
        self == other
            || spki == other.spki && isSelfIssued && handle.hasSubject(of: other.handle)
                && isSigned(by: other)
    }
}

extension Certificate: Hashable {
    /// Two certificates are one when their bytes are.
    package static func == (left: Self, right: Self) -> Bool { left.der == right.der }
    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
