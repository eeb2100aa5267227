import Countersign
import Crypto

/// The format `fido-u2f`. Source: WebAuthn L3 §8.6, in its order.
///
/// What is signed covers neither the model nor the flags, so the statement vouches for the key alone: it
/// never gives a profile, whoever's certificate it leads to.
enum FidoU2FAttestation {
    static func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        guard case .array(let certificates)? = statement["x5c"], certificates.count == 1,
            let signature = statement["sig"]?.bytes
        else { throw .attestationStatementMalformed }
        let chain = try AttestationStatement.chain(in: statement)
        guard let attesting = chain.leaf.publicKey?.p256 else {
            throw .attestationCertificateInvalid
        }
        guard let point = claim.key.publicKey.p256?.x963 else {
            throw .attestationAlgorithmMismatch
        }
        // FIDO U2F Raw Message Formats §4.3: a zero byte, application, challenge, key handle, key.
        let message =
            [0x00] + claim.authenticatorData.relyingPartyIDHash + claim.clientDataHash
            + claim.credential.id + point
        guard attesting.isValid(signature: signature, for: message) else {
            throw .attestationSignatureInvalid
        }
        return AttestationProof(
            type: .basic, chain: chain, mayMeetProfile: false,
            unproven: AttestationProof.ofTheAuthenticator)
    }
}
