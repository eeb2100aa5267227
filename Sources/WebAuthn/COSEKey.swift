import Countersign
import Crypto

/// A public key in COSE form. Source: RFC 9052 §7, RFC 9053 §7.1, WebAuthn L3 §5.8.5.
struct COSEKey {
    let algorithm: COSEAlgorithm
    let publicKey: P256PublicKey

    private enum Label {
        static let keyType: Int64 = 1
        static let algorithm: Int64 = 3
        static let curve: Int64 = -1
        static let x: Int64 = -2
        static let y: Int64 = -3
    }
    private static let keyTypeEC2: Int64 = 2
    private static let curveP256: Int64 = 1

    /// Reads an ES256 key: P-256, both coordinates whole, the point on the curve.
    ///
    /// The algorithm is looked at first, so that a key of another kind is "not allowed", not "invalid".
    init(_ value: CBOR, allowing algorithms: Set<COSEAlgorithm>) throws(VerificationFailure) {
        guard case .map = value, let number = value[Label.algorithm]?.integer else {
            throw .coseKeyInvalid
        }
        guard let algorithm = COSEAlgorithm(rawValue: number), algorithms.contains(algorithm) else {
            throw .algorithmNotAllowed
        }
        switch algorithm {
        case .es256:
            guard value[Label.keyType]?.integer == Self.keyTypeEC2,
                value[Label.curve]?.integer == Self.curveP256,
                let x = value[Label.x]?.bytes, x.count == 32,
                let y = value[Label.y]?.bytes, y.count == 32
            else { throw .coseKeyInvalid }
            self.algorithm = algorithm
            do {
                publicKey = try P256PublicKey(x963: [0x04] + x + y)
            } catch {
                throw .coseKeyInvalid
            }
        }
    }

    /// The CTAP2 canonical encoding of an ES256 key.
    static func encode(_ key: P256PublicKey) -> CBOR {
        let pairs: [(Int64, CBOR)] = [
            (Label.keyType, CBOR(integer: keyTypeEC2)),
            (Label.algorithm, CBOR(integer: COSEAlgorithm.es256.rawValue)),
            (Label.curve, CBOR(integer: curveP256)),
            (Label.x, .bytes(Bytes(key.x963[1..<33]))),
            (Label.y, .bytes(Bytes(key.x963[33..<65]))),
        ]
        return .map(pairs.map { CBOR.Pair(key: CBOR(integer: $0.0), value: $0.1) })
    }
}
