import Countersign
import Crypto

/// The format `apple`: a certificate made for this one key. Source: WebAuthn L3 §8.8 (WX-14).
enum AppleAttestation {
    static func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        let chain = try AttestationStatement.chain(in: statement)
        guard try nonce(in: chain.leaf) == sha256(claim.toBeSigned).bytes else {
            throw .attestationNonceMismatch
        }
        guard chain.leaf.spki == claim.key.publicKey.spki else {
            throw .attestationPublicKeyMismatch
        }
        // Apple certifies the hash of the authenticator data too, and only keys of the Secure Enclave.
        return AttestationProof(
            type: .anonymizationCA, chain: chain, mayMeetProfile: true, unproven: [])
    }

    private static func nonce(in certificate: Certificate) throws(VerificationFailure) -> Bytes {
        do {
            return try AppleNonce.read(from: certificate)
        } catch {
            throw .attestationCertificateInvalid
        }
    }
}
