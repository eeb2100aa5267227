internal import COpenSSL
import Countersign

/// Keys of RSA, of which only the public half ever occurs here.
extension EVPKey {
    /// The key of a SubjectPublicKeyInfo in DER, and nothing but the one DER encoding of it.
    ///
    /// Source: RFC 3279 §2.3.1 (rsaEncryption with NULL parameters), RFC 5280 §4.1.
    static func rsa(spki: Bytes) throws(KeyError) -> EVPKey {
        guard let parsed = SubjectPublicKeyInfo(der: spki) else { throw .malformed }
        guard let key = parsed.key, unsafe EVP_PKEY_is_a(key.pointer, "RSA") == 1 else {
            throw .unsupported
        }
        // The structure may be DER and the key inside it, or its parameters, another spelling.
        guard key.spki == spki else { throw .malformed }
        return key
    }

    /// The key of these numbers, big-endian without leading zeros.
    static func rsa(modulus: Bytes, exponent: Bytes) -> EVPKey? {
        guard let modulusCount = Int32(exactly: modulus.count),
            let exponentCount = Int32(exactly: exponent.count)
        else { return nil }
        return unsafe EVPKey(
            owning: countersign_rsa_from_numbers(modulus, modulusCount, exponent, exponentCount))
    }

    /// n and e of an RSA key, big-endian without leading zeros.
    var rsaNumbers: (modulus: Bytes, exponent: Bytes) {
        (number(OSSL_PKEY_PARAM_RSA_N), number(OSSL_PKEY_PARAM_RSA_E))
    }

    private func number(_ name: String) -> Bytes {
        var pointer: OpaquePointer?
        OpenSSL.require(
            unsafe EVP_PKEY_get_bn_param(self.pointer, name, &pointer), "EVP_PKEY_get_bn_param")
        defer { unsafe BN_free(pointer) }
        var bytes = Bytes(repeating: 0, count: Int(unsafe BN_num_bits(pointer) + 7) / 8)
        let count = unsafe BN_bn2bin(pointer, &bytes)
        precondition(Int(count) == bytes.count, "a number has as many bytes as its bits need")
        return bytes
    }

    /// SubjectPublicKeyInfo in DER, as OpenSSL writes it.
    var spki: Bytes {
        unsafe DEREncoding.bytes { unsafe i2d_PUBKEY(pointer, $0) }
    }
}

/// A parsed SubjectPublicKeyInfo whose key may be of any kind, also of one that OpenSSL does not know.
@safe private struct SubjectPublicKeyInfo: ~Copyable {
    private let pointer: OpaquePointer

    /// `nil` for bytes that are not DER of this structure, and for trailing bytes.
    init?(der: Bytes) {
        let parsed = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe d2i_X509_PUBKEY(nil, &cursor, buffer.count)
        }
        // OpenSSL leaves the errors of a key that it cannot decode, although the structure is right.
        OpenSSL.forgetErrors()
        guard let parsed = unsafe parsed else { return nil }
        guard unsafe DEREncoding.bytes({ unsafe i2d_X509_PUBKEY(parsed, $0) }) == der else {
            unsafe X509_PUBKEY_free(parsed)
            return nil
        }
        unsafe pointer = parsed
    }

    deinit { unsafe X509_PUBKEY_free(pointer) }

    var key: EVPKey? { unsafe EVPKey(owning: X509_PUBKEY_get(pointer)) }
}
