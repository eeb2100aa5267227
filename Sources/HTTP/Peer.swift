/// Who is at the other end of a connection, as far as the transport proves it.
package enum Peer: Sendable, Equatable {
    /// No TLS; only on loopback or where the operator said so.
    case plain
    /// TLS, and the caller showed no certificate (or one that has expired since the handshake).
    case tls
    /// TLS, and the caller proved to hold this certificate, which chains to the configured CA.
    case mutualTLS(ClientCertificate)
}

/// The parts of a verified client certificate that identify a caller.
package struct ClientCertificate: Sendable, Equatable {
    /// Subject alternative names such as `URI:spiffe://bank.example/core` or `DNS:core.bank.example`.
    ///
    /// Only these two kinds (RFC 5280 §4.2.1.6), only printable ASCII, in the certificate's order.
    package let subjectAlternativeNames: [String]
    /// SHA-256 of the whole certificate in DER; lower-case hexadecimal, 64 characters.
    package let sha256Fingerprint: String

    package init(subjectAlternativeNames: [String], sha256Fingerprint: String) {
        self.subjectAlternativeNames = subjectAlternativeNames
        self.sha256Fingerprint = sha256Fingerprint
    }
}
