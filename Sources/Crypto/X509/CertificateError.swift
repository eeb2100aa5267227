/// Why a certificate or a chain is not accepted.
package enum CertificateError: Error, Hashable, Sendable {
    /// Not exactly one certificate in DER, or a part that cannot be read.
    case malformed
    /// A certificate was not issued by the next one: another name, a wrong signature, no CA, too long a
    /// path, an unknown critical extension.
    case broken
    /// A key or a hash of less than 112 bits of security on the path, such as SHA-1.
    case weak
    /// No anchor is on the path and none issued its last certificate.
    case untrusted
    /// After the last second of a certificate whose dates count.
    case expired
    /// Before the first second of one.
    case notYetValid
}
