package import Countersign

/// The two numbers of an ECDSA signature on P-256, each in [1, n−1].
///
/// (r, s) and (r, n−s) are both valid for one message, so signature bytes never identify anything.
package struct P256Signature: Hashable, Sendable {
    /// r then s, 32 bytes each, big-endian: the form of JOSE. Source: RFC 7518 §3.4.
    package let raw: Bytes

    /// Takes exactly 64 bytes with both numbers in range; anything else is `nil`.
    package init?(raw: Bytes) {
        let curve = EllipticCurve.p256
        guard raw.count == 64, curve.isInRange(raw.prefix(32)), curve.isInRange(raw.suffix(32))
        else { return nil }
        self.raw = raw
    }

    /// Reads DER: SEQUENCE { INTEGER r, INTEGER s }, with no other spelling and nothing after it.
    package init?(der: Bytes) {
        guard let raw = EllipticCurve.p256.numbers(inDER: der) else { return nil }
        self.raw = raw
    }

    /// Reads the one format that a key was enrolled with; the other is no signature of that key.
    package init?(_ bytes: Bytes, in format: SignatureFormat) {
        switch format {
        case .der: self.init(der: bytes)
        case .raw: self.init(raw: bytes)
        }
    }

    /// The one DER encoding.
    package var der: Bytes { EllipticCurve.p256.der(ofNumbers: raw) }
}
