package import Countersign

/// A public key whose holder signs tokens, such as the bank's identity system.
package enum IdentityKey: Hashable, Sendable {
    case ed25519(Ed25519PublicKey)
    case p256(P256PublicKey)

    /// Reads PEM of SubjectPublicKeyInfo of either kind.
    package init(pem: String) throws(KeyError) {
        do {
            self = .ed25519(try Ed25519PublicKey(pem: pem))
        } catch .unsupported {
            guard let der = PEM.decode(pem, label: "PUBLIC KEY") else { throw .malformed }
            self = .p256(try P256PublicKey(spki: der))
        }
    }

    /// The one value of `alg` that goes with the key. Source: RFC 7518 §3.4, RFC 8037 §3.1.
    package var algorithm: String {
        switch self {
        case .ed25519: "EdDSA"
        case .p256: "ES256"
        }
    }

    fileprivate func isValid(_ signature: Bytes, for message: Bytes) -> Bool {
        switch self {
        case .ed25519(let key): return key.isValid(signature: signature, for: message)
        case .p256(let key):
            guard let signature = P256Signature(raw: signature) else { return false }
            return key.isValid(signature, for: message)
        }
    }
}

/// The private half of an ``IdentityKey``, for the demo and for tests.
package enum IdentitySigningKey: Sendable {
    case ed25519(Ed25519PrivateKey)
    case p256(P256PrivateKey)

    /// What verifies its tokens.
    package var publicKey: IdentityKey {
        switch self {
        case .ed25519(let key): .ed25519(key.publicKey)
        case .p256(let key): .p256(key.publicKey)
        }
    }

    fileprivate func sign(_ message: Bytes) throws(OpenSSLFailure) -> Bytes {
        switch self {
        case .ed25519(let key): return try key.sign(message)
        case .p256(let key):
            guard let signature = P256Signature(der: try key.sign(message)) else {
                throw OpenSSLFailure("EVP_DigestSign")
            }
            return signature.raw
        }
    }
}

/// JSON Web Signatures in compact form, with the algorithm fixed by the key. Source: RFC 7515 §7.1.
package enum CompactJWS {
    /// The longest token that is read, in UTF-8 units.
    package static let unitsMax = 8192

    /// Why a token is refused.
    package enum Failure: Error, Hashable, Sendable {
        case tooLong
        /// Not three parts of strict base64url, or a header that is no JSON object.
        case malformed
        /// `alg` is missing or is not the key's: the token never chooses.
        case algorithm
        /// `crit` is present: it names extensions that must be understood, and none are.
        case critical
        case signature
    }

    /// The payload of a token that `key` signed; its bytes are a JSON object without repeated names.
    ///
    /// Only now may the payload be believed, and its own claims (expiry, audience) are the caller's to
    /// check.
    package static func verify(_ text: String, key: IdentityKey) throws(Failure) -> Bytes {
        guard text.utf8.count <= unitsMax else { throw .tooLong }
        guard let parts = Parts(text) else { throw .malformed }
        guard let algorithm = parts.header["alg"]?.text,
            algorithm.utf8.elementsEqual(key.algorithm.utf8)
        else { throw .algorithm }
        guard parts.header["crit"] == nil else { throw .critical }
        guard key.isValid(parts.signature, for: parts.signed) else { throw .signature }
        guard case .object? = SignedJSON.decode(parts.payload) else { throw .malformed }
        return parts.payload
    }

    /// A token taken apart; nothing of it is believed yet.
    package struct Parts: Sendable {
        /// A JSON object without repeated names.
        package let header: JSON
        package let payload: Bytes
        package let signature: Bytes
        /// What the signature is over. Source: RFC 7515 §5.2 step 8.
        package let signed: Bytes

        /// Takes three parts of strict base64url, of which the first is a header; else `nil`. How long the
        /// text may be is the caller's to bound.
        package init?(_ text: String) {
            let parts = text.utf8.split(
                separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 3, let header = Base64.decodeURL(Substring(parts[0])),
                let payload = Base64.decodeURL(Substring(parts[1])),
                let signature = Base64.decodeURL(Substring(parts[2])),
                let object = SignedJSON.decode(header), case .object = object
            else { return nil }
            self.header = object
            self.payload = payload
            self.signature = signature
            signed = Bytes(parts[0]) + [UInt8(ascii: ".")] + Bytes(parts[1])
        }
    }

    /// A token over `payload`, for the demo and for tests.
    package static func sign(_ payload: JSON, key: IdentitySigningKey) throws(OpenSSLFailure)
        -> String
    {
        let header: JSON = ["alg": .string(key.publicKey.algorithm), "typ": "JWT"]
        let message =
            Base64.encodeURL(header.encoded) + "." + Base64.encodeURL(payload.encoded)
        return message + "." + Base64.encodeURL(try key.sign(Bytes(message.utf8)))
    }
}
