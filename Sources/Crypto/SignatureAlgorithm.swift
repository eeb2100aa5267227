/// How a signature was made: the key's kind and the hash, in the one combination each name stands for.
package enum SignatureAlgorithm: Hashable, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256. Source: RFC 9053 §2.1.
    case es256
    /// ECDSA on P-384 with SHA-384. Source: RFC 9053 §2.1.
    case es384
    /// RSASSA-PKCS1-v1_5 with SHA-256. Source: RFC 8812 §2.
    case rs256
    /// RSASSA-PKCS1-v1_5 with SHA-1, which older TPMs sign their statements with. Source: RFC 8812 §2.
    ///
    /// Never the algorithm of a customer's key: no key names it as its own (``PublicKey/algorithm``).
    case rs1
    /// Ed25519. Source: RFC 8032, RFC 9053 §2.2.
    case eddsa
}
