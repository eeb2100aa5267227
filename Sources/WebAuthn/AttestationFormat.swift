import Countersign
import Crypto

/// The attestation statement formats that are understood. Source: WebAuthn L3 §8.
///
/// Another format is a case here and one function: what it needs is in ``AttestationClaim``.
package enum AttestationFormat: String, Hashable, Sendable {
    /// No attestation. §8.7.
    case noAttestation = "none"
    /// Signed by the credential's own key, or (not yet understood) by a certificate. §8.2.
    case packed
}

/// Everything that a statement makes its claim about.
struct AttestationClaim {
    let authenticatorData: AuthenticatorData
    let credential: AttestedCredential
    let key: COSEKey
    let clientDataHash: Bytes
}

extension AttestationFormat {
    /// Steps 21 and 22 of registration: the format's own procedure.
    func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationVerdict {
        switch self {
        case .noAttestation: try Self.verifyNone(statement)
        case .packed: try Self.verifyPacked(statement, of: claim)
        }
    }

    private static func verifyNone(_ statement: CBOR) throws(VerificationFailure)
        -> AttestationVerdict
    {
        guard statement == .map([]) else { throw .attestationStatementMalformed }
        return .absent
    }

    private static func verifyPacked(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationVerdict {
        guard let algorithm = statement["alg"]?.integer, let signature = statement["sig"]?.bytes,
            // ECDAA was taken out of the standard; a statement with its key is of no known kind.
            statement["ecdaaKeyId"] == nil
        else { throw .attestationStatementMalformed }
        guard statement["x5c"] == nil else { throw .attestationFormatUnsupported }
        guard algorithm == claim.key.algorithm.rawValue else {
            throw .attestationAlgorithmMismatch
        }
        guard
            claim.key.publicKey.isValid(
                signature: signature, for: claim.authenticatorData.raw + claim.clientDataHash)
        else { throw .attestationSignatureInvalid }
        return .selfSigned
    }
}
