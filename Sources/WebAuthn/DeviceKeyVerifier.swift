package import Countersign
package import Crypto

/// Signatures of enrolled device keys, without WebAuthn around them.
package enum DeviceKeyVerifier {
    /// Checks an ECDSA P-256 signature with SHA-256 over the message's bytes.
    ///
    /// - Parameters:
    ///   - signature: As it came. (r, s) and (r, n−s) are both valid: never look one up by its bytes.
    ///   - format: As recorded at enrolment: strict DER, or r and s of 32 bytes each. The other is refused.
    ///   - message: The stored bytes that were to be signed.
    ///   - key: SubjectPublicKeyInfo in DER, as recorded at enrolment.
    ///   - keys: The parsed keys of earlier signatures, if the caller keeps them.
    /// - Throws: ``VerificationFailure``: `signatureInvalid`, or `storedKeyInvalid` when the record is
    ///   damaged.
    package static func verify(
        signature: Bytes, in format: SignatureFormat, over message: Bytes, key: Bytes,
        keys: KeyCache<P256PublicKey> = KeyCache(keysMax: 2)
    ) throws(VerificationFailure) {
        guard try keys.key(recorded: key).isValid(signature: signature, in: format, for: message)
        else {
            throw .signatureInvalid
        }
    }
}

extension KeyCache where Key == P256PublicKey {
    /// The key of a record, from its SubjectPublicKeyInfo.
    func key(recorded spki: Bytes) throws(VerificationFailure) -> P256PublicKey {
        try key(of: spki) { (spki) throws(VerificationFailure) in
            do {
                return try P256PublicKey(spki: spki)
            } catch {
                throw .storedKeyInvalid
            }
        }
    }
}
