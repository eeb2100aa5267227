package import Crypto

/// The signature algorithms that a passkey's key may have. Source: IANA COSE Algorithms.
///
/// A closed list: what is not here is refused as "not allowed", whatever else it may be.
package enum COSEAlgorithm: Int64, Hashable, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256. Source: RFC 9053 §2.1, WebAuthn L3 §5.8.5.
    case es256 = -7
    /// Ed25519. Source: RFC 9053 §2.2, WebAuthn L3 §5.8.5.
    case eddsa = -8
    /// ECDSA on P-384 with SHA-384. Source: RFC 9053 §2.1, WebAuthn L3 §5.8.5.
    case es384 = -35
    /// RSASSA-PKCS1-v1_5 with SHA-256, which older Windows Hello makes. Source: RFC 8812 §2.
    case rs256 = -257

    /// Its name in the registry, as settings write it.
    package var name: String {
        switch self {
        case .es256: "ES256"
        case .eddsa: "EdDSA"
        case .es384: "ES384"
        case .rs256: "RS256"
        }
    }

    /// The same for `Crypto`.
    package var signature: SignatureAlgorithm {
        switch self {
        case .es256: .es256
        case .eddsa: .eddsa
        case .es384: .es384
        case .rs256: .rs256
        }
    }
}
