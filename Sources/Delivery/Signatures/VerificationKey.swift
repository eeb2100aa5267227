package import Countersign
package import Crypto

/// A trusted key, which alone decides the algorithm: what a message says can only contradict it.
package enum VerificationKey: Sendable {
    /// Source: RFC 9421 §3.3.6.
    case ed25519(Ed25519PublicKey)
    /// Source: RFC 9421 §3.3.4; signatures are the 64 bytes r ‖ s, not DER.
    case ecdsaP256(P256PublicKey)

    /// The name in the registry of RFC 9421 §6.2.
    package var algorithm: String {
        switch self {
        case .ed25519: "ed25519"
        case .ecdsaP256: "ecdsa-p256-sha256"
        }
    }

    /// Whether this key made the signature over a signature base.
    package func isValid(signature: Bytes, for base: Bytes) -> Bool {
        switch self {
        case .ed25519(let key):
            return key.isValid(signature: signature, for: base)
        case .ecdsaP256(let key):
            guard let signature = P256Signature(raw: signature) else { return false }
            return key.isValid(signature, for: base)
        }
    }
}
