internal import CLibevent
internal import Countersign

/// Reads what a TLS connection proves about its client.
enum PeerCertificate {
    /// The verified certificate; `nil` when none was shown.
    static func read(from ssl: OpaquePointer) -> ClientCertificate? {
        guard unsafe SSL_get_verify_result(ssl) == Int(X509_V_OK),
            let certificate = unsafe SSL_get0_peer_certificate(ssl),
            let fingerprint = unsafe fingerprint(of: certificate)
        else { return nil }
        return ClientCertificate(
            subjectAlternativeNames: unsafe names(of: certificate),
            sha256Fingerprint: Hex.encode(fingerprint))
    }

    /// Whether the certificate that was verified in the handshake is still within its time.
    static func isCurrent(on ssl: OpaquePointer) -> Bool {
        guard let certificate = unsafe SSL_get0_peer_certificate(ssl) else { return false }
        return unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
    }

    private static func fingerprint(of certificate: OpaquePointer) -> Bytes? {
        var digest = Bytes(repeating: 0, count: 32)
        var length: UInt32 = 0
        guard unsafe X509_digest(certificate, EVP_sha256(), &digest, &length) == 1, length == 32
        else { return nil }
        return digest
    }

    private static func names(of certificate: OpaquePointer) -> [String] {
        guard
            let extensionValue = unsafe X509_get_ext_d2i(
                certificate, NID_subject_alt_name, nil, nil)
        else { return [] }
        let stack = OpaquePointer(extensionValue)
        defer { unsafe GENERAL_NAMES_free(stack) }
        return unsafe (0..<OPENSSL_sk_num(stack)).compactMap { index in
            guard let entry = unsafe OPENSSL_sk_value(stack, index) else { return nil }
            return unsafe name(entry.assumingMemoryBound(to: GENERAL_NAME.self).pointee)
        }
    }

    /// Takes the length from the certificate, so that a NUL inside a name cannot shorten it.
    private static func name(_ entry: GENERAL_NAME) -> String? {
        let kind: String
        switch unsafe entry.type {
        case GEN_URI: kind = "URI"
        case GEN_DNS: kind = "DNS"
        default: return nil
        }
        guard let value = unsafe entry.d.ia5, let start = unsafe ASN1_STRING_get0_data(value) else {
            return nil
        }
        let units = unsafe Bytes(
            UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(value))))
        guard units.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        return "\(kind):" + String(decoding: units, as: UTF8.self)
    }
}
