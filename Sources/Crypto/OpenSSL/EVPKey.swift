internal import COpenSSL
import Countersign

/// One key of OpenSSL, public or private, freed with its last owner.
///
/// A class, because the same parsed key serves many verifications. Its kind is known to the type that
/// holds it: `P256…` or `Ed25519…`.
@safe final class EVPKey: @unchecked Sendable {
    // Sendable: an EVP_PKEY is never changed after its creation here, and OpenSSL 3 allows any
    // number of threads to use one for signing and verification.
    let pointer: OpaquePointer

    /// How a signature treats the message.
    enum Scheme {
        case ecdsaWithSHA256
        case ecdsaWithSHA384
        /// RSASSA-PKCS1-v1_5. Source: RFC 8017 §8.2.
        case rsaWithSHA256
        case rsaWithSHA1
        /// Pure Ed25519; it hashes by itself. Source: RFC 8032 §5.1.
        case ed25519
    }

    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else {
            OpenSSL.forgetErrors()
            return nil
        }
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    // MARK: Keys from bytes

    /// A public key of P-256 from its uncompressed point; `nil` when the point is not on the curve.
    static func p256(point: Bytes) -> EVPKey? {
        unsafe EVPKey(owning: countersign_ec_from_point("P-256", point, point.count))
    }

    /// A public key of P-384 from its uncompressed point; `nil` when the point is not on the curve.
    static func p384(point: Bytes) -> EVPKey? {
        unsafe EVPKey(owning: countersign_ec_from_point("P-384", point, point.count))
    }

    /// A private key of P-256 from PKCS#8 or SEC 1 DER; `nil` for anything else and for trailing bytes.
    static func p256(privateDER der: Bytes) -> EVPKey? {
        let key: EVPKey? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let pointer = unsafe d2i_AutoPrivateKey(nil, &cursor, buffer.count)
            let key = unsafe EVPKey(owning: pointer)
            guard let start = buffer.baseAddress, let end = unsafe cursor,
                unsafe end - start == buffer.count
            else { return nil }
            return key
        }
        guard let key, unsafe EVP_PKEY_is_a(key.pointer, "EC") == 1, key.groupName == "prime256v1"
        else { return nil }
        return key
    }

    /// A public key of Ed25519 from its 32 bytes.
    static func ed25519(publicKey raw: Bytes) -> EVPKey? {
        unsafe EVPKey(
            owning: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw, raw.count))
    }

    /// A private key of Ed25519 from its 32-byte seed.
    static func ed25519(seed: Bytes) -> EVPKey? {
        unsafe EVPKey(
            owning: EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count))
    }

    // MARK: New keys

    static func generateP256() throws(OpenSSLFailure) -> EVPKey {
        guard let key = unsafe EVPKey(owning: countersign_p256_generate()) else {
            throw OpenSSLFailure("EVP_PKEY_Q_keygen")
        }
        return key
    }

    static func generateEd25519() throws(OpenSSLFailure) -> EVPKey {
        guard let key = unsafe EVPKey(owning: countersign_ed25519_generate()) else {
            throw OpenSSLFailure("EVP_PKEY_Q_keygen")
        }
        return key
    }

    // MARK: Bytes of a key

    /// The uncompressed point of a P-256 key, 65 bytes.
    var point: Bytes {
        var bytes = Bytes(repeating: 0, count: 65)
        var count = 0
        let code = unsafe EVP_PKEY_get_octet_string_param(
            pointer, OSSL_PKEY_PARAM_PUB_KEY, &bytes, bytes.count, &count)
        OpenSSL.require(code, "EVP_PKEY_get_octet_string_param")
        precondition(count == 65, "a P-256 key is kept uncompressed")
        return bytes
    }

    /// The 32 bytes of an Ed25519 public key.
    var rawPublicKey: Bytes {
        var bytes = Bytes(repeating: 0, count: 32)
        var count = bytes.count
        OpenSSL.require(
            unsafe EVP_PKEY_get_raw_public_key(pointer, &bytes, &count),
            "EVP_PKEY_get_raw_public_key")
        return bytes
    }

    /// The 32-byte seed of an Ed25519 private key.
    var rawSeed: Bytes {
        var bytes = Bytes(repeating: 0, count: 32)
        var count = bytes.count
        OpenSSL.require(
            unsafe EVP_PKEY_get_raw_private_key(pointer, &bytes, &count),
            "EVP_PKEY_get_raw_private_key")
        return bytes
    }

    /// PKCS#8 DER of a private key.
    var pkcs8: Bytes {
        guard let info = unsafe EVP_PKEY2PKCS8(pointer) else {
            preconditionFailure(OpenSSLFailure("EVP_PKEY2PKCS8").description)
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        let count = unsafe i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        precondition(count > 0, "a private key has an encoding")
        return unsafe Bytes(unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var cursor = buffer.baseAddress
            written = Int(unsafe i2d_PKCS8_PRIV_KEY_INFO(info, &cursor))
        }
    }

    private var groupName: String {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &count) == 1 else {
            OpenSSL.forgetErrors()
            return ""
        }
        return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Signatures

    /// Whether `signature` is this key's over `message`.
    ///
    /// The caller has checked the signature's form; `false` means only that it is not the key's.
    func isValid(_ signature: Bytes, for message: Bytes, _ scheme: Scheme) -> Bool {
        let context = DigestContext()
        let started = unsafe EVP_DigestVerifyInit(
            context.pointer, nil, Self.digest(of: scheme), nil, pointer)
        OpenSSL.require(started, "EVP_DigestVerifyInit")
        let answer = unsafe EVP_DigestVerify(
            context.pointer, signature, signature.count, message, message.count)
        // 0 and negative answers mean the same here: not valid.
        guard answer == 1 else {
            OpenSSL.forgetErrors()
            return false
        }
        return true
    }

    /// A signature over `message`: DER for ECDSA, 64 bytes for Ed25519.
    func signature(over message: Bytes, _ scheme: Scheme) throws(OpenSSLFailure) -> Bytes {
        let context = DigestContext()
        try OpenSSL.check(
            unsafe EVP_DigestSignInit(
                context.pointer, nil, Self.digest(of: scheme), nil, pointer),
            "EVP_DigestSignInit")
        var count = 0
        try OpenSSL.check(
            unsafe EVP_DigestSign(context.pointer, nil, &count, message, message.count),
            "EVP_DigestSign")
        var bytes = Bytes(repeating: 0, count: count)
        try OpenSSL.check(
            unsafe EVP_DigestSign(context.pointer, &bytes, &count, message, message.count),
            "EVP_DigestSign")
        return Bytes(bytes.prefix(count))
    }

    private static func digest(of scheme: Scheme) -> OpaquePointer? {
        switch scheme {
        case .ecdsaWithSHA256, .rsaWithSHA256: unsafe EVP_sha256()
        case .ecdsaWithSHA384: unsafe EVP_sha384()
        case .rsaWithSHA1: unsafe EVP_sha1()
        case .ed25519: nil
        }
    }
}

/// Working memory of one signature or verification.
@safe private struct DigestContext: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_MD_CTX_free(pointer) }
}
