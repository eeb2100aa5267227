import Countersign
package import Crypto

/// A passkey's public key, parsed once and ready to verify.
///
/// Which library verifies assertions: libfido2 for ES256, ES384, EdDSA and RS256 of 2048 bits; OpenSSL
/// for RS256 of every other size, which libfido2 1.12 cannot hold. Attestation statements, which
/// libfido2 does not take apart, are OpenSSL's alone.
package struct PasskeyKey: Sendable {
    /// The key as it is stored and compared.
    package let publicKey: PublicKey
    private let fido: FidoPublicKey?

    /// Takes a parsed key.
    package init(_ publicKey: PublicKey) {
        self.publicKey = publicKey
        fido = FidoPublicKey(publicKey)
    }

    /// Whether this key signed the authenticator data and the client data's hash. WebAuthn L3 §7.2
    /// step 21.
    func isValid(
        signature: Bytes, authenticatorData: Bytes, clientDataHash: Bytes,
        relyingParty: RelyingParty, policy: VerifierPolicy
    ) -> Bool {
        guard let fido else {
            return publicKey.isValid(signature: signature, for: authenticatorData + clientDataHash)
        }
        return FidoAssertion().isValid(
            relyingPartyID: relyingParty.id, clientDataHash: clientDataHash,
            authenticatorData: authenticatorData, signature: signature, key: fido, policy: policy)
    }
}

/// The parsed keys of passkeys by their SubjectPublicKeyInfo; see ``KeyCache``.
package typealias PasskeyKeys = KeyCache<PasskeyKey>

extension KeyCache where Key == PasskeyKey {
    /// The key of a credential's record.
    func key(of credential: StoredPasskey) throws(VerificationFailure) -> PasskeyKey {
        try key(of: credential.key) { (spki) throws(VerificationFailure) in
            do {
                return PasskeyKey(try PublicKey(spki: spki))
            } catch {
                throw .storedKeyInvalid
            }
        }
    }
}
