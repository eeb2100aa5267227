internal import COpenSSL
package import Countersign

/// The SHA-256 of `bytes`. Source: FIPS 180-4.
package func sha256(_ bytes: Bytes) -> Digest {
    var out = Bytes(repeating: 0, count: 32)
    let code = unsafe EVP_Digest(bytes, bytes.count, &out, nil, EVP_sha256(), nil)
    OpenSSL.require(code, "EVP_Digest")
    guard let digest = Digest(out) else { preconditionFailure("a SHA-256 has 32 bytes") }
    return digest
}

/// The hashes that structures of others, such as a TPM's, may name. Source: FIPS 180-4.
package enum HashAlgorithm: Hashable, Sendable, CaseIterable {
    /// Only where an old statement names it: it resists no collisions any more.
    case sha1
    case sha256
    case sha384
    case sha512
}

/// The hash of `bytes`, in as many bytes as the algorithm has.
package func hash(_ bytes: Bytes, using algorithm: HashAlgorithm) -> Bytes {
    var out = Bytes(repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let type =
        switch algorithm {
        case .sha1: unsafe EVP_sha1()
        case .sha256: unsafe EVP_sha256()
        case .sha384: unsafe EVP_sha384()
        case .sha512: unsafe EVP_sha512()
        }
    OpenSSL.require(
        unsafe EVP_Digest(bytes, bytes.count, &out, &count, type, nil), "EVP_Digest")
    return Bytes(out.prefix(Int(count)))
}

/// Whether two secrets are the same bytes, in a time that tells nothing but their lengths.
package func constantTimeEqual(_ left: Bytes, _ right: Bytes) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe CRYPTO_memcmp(left, right, left.count) == 0
}

extension Hasher256 {
    /// SHA-256 by OpenSSL.
    package static let openSSL = Hasher256(sha256)
}

extension EntropySource {
    /// OpenSSL's generator for this thread, seeded by the kernel.
    ///
    /// A generator that fails stops the process: there is nothing safe to answer without randomness.
    package static let openSSL = EntropySource { count in
        guard count > 0, let length = Int32(exactly: count) else {
            preconditionFailure("a positive number of random bytes")
        }
        var bytes = Bytes(repeating: 0, count: count)
        OpenSSL.require(unsafe RAND_bytes(&bytes, length), "RAND_bytes")
        return bytes
    }
}
