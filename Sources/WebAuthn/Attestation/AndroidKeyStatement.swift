import Countersign
import Crypto

/// The format `android-key`. Source: WebAuthn L3 §8.4, in its order (WX-13).
///
/// What a device key of the bank's own app must meet is stricter, and judged elsewhere.
enum AndroidKeyStatement {
    static func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        let chain = try AttestationStatement.chain(in: statement)
        try AttestationStatement.verifySignature(
            in: statement, over: claim.toBeSigned, by: chain.leaf)
        guard chain.leaf.spki == claim.key.publicKey.spki else {
            throw .attestationPublicKeyMismatch
        }
        let description: KeyDescription
        do {
            description = try KeyDescription(of: chain.leaf)
        } catch {
            throw .attestationCertificateInvalid
        }
        guard description.challenge == claim.clientDataHash else {
            throw .attestationNonceMismatch
        }
        let lists = [description.softwareEnforced, description.hardwareEnforced]
        // A key of every application would be bound to no relying party.
        guard lists.allSatisfy({ !$0.isPresent(.allApplications) }), isGeneratedToSign(lists) else {
            throw .attestationCertificateInvalid
        }
        return AttestationProof(
            type: .basic, chain: chain, facts: [.init("android_key", description.facts)],
            // Neither Google's revocation list nor the state of the device is asked here, so no profile is
            // given: a bank that wants attested Android keys enrols them as device keys. What is certified
            // is the hash of the client data; the model is signed by the new key alone.
            mayMeetProfile: false, unproven: AttestationProof.ofTheAuthenticator)
    }

    /// Whether the lists together say that the key was made where it is, and may sign and nothing else.
    ///
    /// The union of both, because a statement of software is one too: how much it is worth is what
    /// ``AttestationProof/unproven`` says. Each list that names one of the two must agree.
    private static func isGeneratedToSign(_ lists: [AuthorizationList]) -> Bool {
        let origins = lists.compactMap { $0.integer(.origin) }
        let purposes = lists.compactMap { $0.integers(.purpose) }
        return !origins.isEmpty && origins.allSatisfy { $0 == KeyMint.Origin.generated }
            && !purposes.isEmpty && purposes.allSatisfy { $0 == [KeyMint.Purpose.sign] }
    }
}
