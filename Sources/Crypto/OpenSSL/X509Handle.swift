internal import COpenSSL
import Countersign

/// One parsed certificate of OpenSSL, freed with its last owner.
@safe final class X509Handle: @unchecked Sendable {
    // Sendable: an X509 is never changed after its creation here. What OpenSSL works out later and
    // keeps in it (extension flags, the decoded key) it writes under the certificate's own lock.
    let pointer: OpaquePointer

    /// Parses exactly one certificate; `nil` for anything else, for trailing bytes, and when the outer
    /// structure is not DER. (Inside, the issuer's signature is over the bytes as they are.)
    init?(der: Bytes) {
        let parsed = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509(nil, &cursor, buffer.count)
        }
        OpenSSL.forgetErrors()
        guard let pointer = unsafe parsed else { return nil }
        unsafe self.pointer = pointer
        guard unsafe DEREncoding.bytes({ unsafe i2d_X509(pointer, $0) }) == der else { return nil }
    }

    deinit { unsafe X509_free(pointer) }

    /// 1, 2 or 3; 0 for what is none of them. Source: RFC 5280 §4.1.2.1.
    ///
    /// OpenSSL gives whatever number the certificate has, up to the largest there is.
    var version: Int {
        switch unsafe X509_get_version(pointer) {
        case 0: 1
        case 1: 2
        case 2: 3
        default: 0
        }
    }

    /// The serial number in lower-case hexadecimal without leading zeros.
    var serial: String {
        let number = unsafe ASN1_INTEGER_to_BN(X509_get0_serialNumber(pointer), nil)
        defer { unsafe BN_free(number) }
        var bytes = Bytes(repeating: 0, count: (Int(unsafe BN_num_bits(number)) + 7) / 8)
        _ = unsafe BN_bn2bin(number, &bytes)
        let digits = Hex.encode(bytes).drop { $0 == "0" }
        let sign = unsafe BN_is_negative(number) == 1 ? "-" : ""
        return digits.isEmpty ? "0" : sign + digits
    }

    /// Attribute types as OID texts with their values; `nil` when a value has no text.
    var subject: [(type: String, value: String)]? {
        unsafe X509Reading.entries(of: X509_get_subject_name(pointer))
    }

    /// As ``subject``.
    var issuer: [(type: String, value: String)]? {
        unsafe X509Reading.entries(of: X509_get_issuer_name(pointer))
    }

    /// Whether the subject is the issuer, as names are compared. Source: RFC 5280 §7.1.
    var isSelfIssued: Bool {
        unsafe X509_NAME_cmp(X509_get_subject_name(pointer), X509_get_issuer_name(pointer)) == 0
    }

    /// Whether the two subjects are one name.
    func hasSubject(of other: X509Handle) -> Bool {
        unsafe X509_NAME_cmp(
            X509_get_subject_name(pointer), X509_get_subject_name(other.pointer)) == 0
    }

    /// Seconds since 1970 of the two dates; `nil` when one is no time.
    var validity: (notBefore: Int64, notAfter: Int64)? {
        guard let first = unsafe X509Reading.seconds(of: X509_get0_notBefore(pointer)),
            let last = unsafe X509Reading.seconds(of: X509_get0_notAfter(pointer))
        else { return nil }
        return (first, last)
    }

    /// SubjectPublicKeyInfo in DER.
    var spki: Bytes {
        let info = unsafe X509_get_X509_PUBKEY(pointer)
        return unsafe DEREncoding.bytes { unsafe i2d_X509_PUBKEY(info, $0) }
    }

    /// Every extension in its order; `nil` when an OID is absurdly long.
    var extensions: [CertificateExtension]? {
        var all: [CertificateExtension] = []
        for index in 0..<(unsafe X509_get_ext_count(pointer)) {
            let item = unsafe X509_get_ext(pointer, index)
            guard let oid = unsafe X509Reading.text(of: X509_EXTENSION_get_object(item)),
                let data = unsafe X509_EXTENSION_get_data(item)
            else { return nil }
            all.append(
                CertificateExtension(
                    oid: oid, isCritical: unsafe X509_EXTENSION_get_critical(item) == 1,
                    value: unsafe X509Reading.bytes(of: data),
                    isProcessed: unsafe X509_supported_extension(item) == 1))
        }
        return all
    }

    /// Whether the key of `issuer` made the signature of this certificate. Names are not compared.
    func isSigned(by issuer: X509Handle) -> Bool {
        defer { OpenSSL.forgetErrors() }
        guard let key = unsafe X509_get0_pubkey(issuer.pointer) else { return false }
        return unsafe X509_verify(pointer, key) == 1
    }

    /// Whether this certificate calls `issuer` its issuer. Source: RFC 5280 §6.1.3 (a)(4).
    func names(asIssuer issuer: X509Handle) -> Bool {
        unsafe X509_NAME_cmp(
            X509_get_subject_name(issuer.pointer), X509_get_issuer_name(pointer)) == 0
    }
}
