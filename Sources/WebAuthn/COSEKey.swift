import Countersign
import Crypto

/// A public key in COSE form. Source: RFC 9052 §7, RFC 9053 §7, RFC 8230 §4, WebAuthn L3 §5.8.5.
struct COSEKey {
    let algorithm: COSEAlgorithm
    let publicKey: PublicKey

    private enum Label {
        static let keyType: Int64 = 1
        static let algorithm: Int64 = 3
        static let curve: Int64 = -1
        static let x: Int64 = -2
        static let y: Int64 = -3
        static let modulus: Int64 = -1
        static let exponent: Int64 = -2
    }
    private enum KeyType {
        static let octetPair: Int64 = 1
        static let ellipticCurve: Int64 = 2
        static let rsa: Int64 = 3
    }
    private enum Curve {
        static let p256: Int64 = 1
        static let p384: Int64 = 2
        static let ed25519: Int64 = 6
    }

    /// Reads a key of an allowed algorithm: of its type and curve, every number whole, a point on the
    /// curve, an RSA modulus of 2048 bits or more (WX-02).
    ///
    /// The algorithm is looked at first, so that a key of another kind is "not allowed", not "invalid".
    init(_ value: CBOR, allowing algorithms: [COSEAlgorithm]) throws(VerificationFailure) {
        guard case .map = value, let number = value[Label.algorithm]?.integer else {
            throw .coseKeyInvalid
        }
        guard let algorithm = COSEAlgorithm(rawValue: number), algorithms.contains(algorithm) else {
            throw .algorithmNotAllowed
        }
        self.algorithm = algorithm
        do {
            switch algorithm {
            case .es256:
                publicKey = try PublicKey(p256: try Self.point(value, Curve.p256, width: 32))
            case .es384:
                publicKey = try PublicKey(p384: try Self.point(value, Curve.p384, width: 48))
            case .eddsa: publicKey = try Self.ed25519(value)
            case .rs256: publicKey = try Self.rsa(value)
            }
        } catch {
            throw .coseKeyInvalid
        }
    }

    /// The uncompressed point; a compressed one, whose y is a boolean, is refused.
    private static func point(_ value: CBOR, _ curve: Int64, width: Int) throws(KeyError) -> Bytes {
        guard value[Label.keyType]?.integer == KeyType.ellipticCurve,
            value[Label.curve]?.integer == curve,
            let x = value[Label.x]?.bytes, x.count == width,
            let y = value[Label.y]?.bytes, y.count == width
        else { throw .malformed }
        return [0x04] + x + y
    }

    private static func ed25519(_ value: CBOR) throws(KeyError) -> PublicKey {
        guard value[Label.keyType]?.integer == KeyType.octetPair,
            value[Label.curve]?.integer == Curve.ed25519, let x = value[Label.x]?.bytes
        else { throw .malformed }
        return try PublicKey(ed25519: x)
    }

    private static func rsa(_ value: CBOR) throws(KeyError) -> PublicKey {
        guard value[Label.keyType]?.integer == KeyType.rsa,
            let modulus = value[Label.modulus]?.bytes, let exponent = value[Label.exponent]?.bytes
        else { throw .malformed }
        return try PublicKey(rsaModulus: modulus, exponent: exponent)
    }

    /// The CTAP2 canonical encoding of an ES256 key.
    static func encode(_ key: P256PublicKey) -> CBOR {
        map([
            (Label.keyType, CBOR(integer: KeyType.ellipticCurve)),
            (Label.algorithm, CBOR(integer: COSEAlgorithm.es256.rawValue)),
            (Label.curve, CBOR(integer: Curve.p256)),
            (Label.x, .bytes(Bytes(key.x963[1..<33]))),
            (Label.y, .bytes(Bytes(key.x963[33..<65]))),
        ])
    }

    /// The CTAP2 canonical encoding of an Ed25519 key.
    static func encode(_ key: Ed25519PublicKey) -> CBOR {
        map([
            (Label.keyType, CBOR(integer: KeyType.octetPair)),
            (Label.algorithm, CBOR(integer: COSEAlgorithm.eddsa.rawValue)),
            (Label.curve, CBOR(integer: Curve.ed25519)), (Label.x, .bytes(key.raw)),
        ])
    }

    private static func map(_ pairs: [(Int64, CBOR)]) -> CBOR {
        .map(pairs.map { CBOR.Pair(key: CBOR(integer: $0.0), value: $0.1) })
    }
}
