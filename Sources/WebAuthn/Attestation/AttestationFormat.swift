import Countersign

/// The attestation statement formats that are understood. Source: WebAuthn L3 §8.
///
/// The raw value is the format's identifier, compared case by case. `android-safetynet` is withdrawn,
/// and `compound` is in no authenticator yet.
package enum AttestationFormat: String, Hashable, Sendable, CaseIterable {
    /// Signed by a certificate, or by the credential's own key. §8.2.
    case packed
    /// By a Trusted Platform Module, as in Windows Hello. §8.3.
    case tpm
    /// By the key store of Android. §8.4.
    case androidKey = "android-key"
    /// By a security key of before FIDO2. §8.6.
    case fidoU2F = "fido-u2f"
    /// No attestation. §8.7.
    case noAttestation = "none"
    /// By Apple, which vouches without naming the device. §8.8.
    case apple

    /// The format of exactly that identifier.
    init?(identifier: String) {
        // Code units: for Swift two spellings of one letter are equal.
        guard
            let format = Self.allCases.first(where: {
                $0.rawValue.utf8.elementsEqual(identifier.utf8)
            })
        else { return nil }
        self = format
    }

    /// Step 22 of registration: the format's own procedure.
    func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        switch self {
        case .packed: try PackedAttestation.verify(statement, of: claim)
        case .tpm: try TPMAttestation.verify(statement, of: claim)
        case .androidKey: try AndroidKeyStatement.verify(statement, of: claim)
        case .fidoU2F: try FidoU2FAttestation.verify(statement, of: claim)
        case .noAttestation: try verifyNone(statement)
        case .apple: try AppleAttestation.verify(statement, of: claim)
        }
    }

    /// §8.7: the statement is an empty map.
    private func verifyNone(_ statement: CBOR) throws(VerificationFailure) -> AttestationProof {
        guard statement == .map([]) else { throw .attestationStatementMalformed }
        return AttestationProof(
            type: .absent, chain: nil, mayMeetProfile: false,
            unproven: AttestationProof.ofTheAuthenticator)
    }
}
