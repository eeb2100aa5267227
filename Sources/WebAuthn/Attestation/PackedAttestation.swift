import Countersign
import Crypto

/// The format `packed`. Source: WebAuthn L3 §8.2, in its order (WX-12).
enum PackedAttestation {
    static func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        // ECDAA was taken out of the standard; a statement with its key is of no known kind.
        guard statement["ecdaaKeyId"] == nil else { throw .attestationStatementMalformed }
        if statement["x5c"] == nil { return try verifySelf(statement, of: claim) }
        let chain = try AttestationStatement.chain(in: statement)
        try AttestationStatement.verifySignature(
            in: statement, over: claim.toBeSigned, by: chain.leaf)
        try verifyRequirements(of: chain.leaf)
        try AttestationStatement.verifyModel(in: chain.leaf, is: claim.credential.model)
        // Whether one certificate serves a batch or a CA made it cannot be told from here. Where the key
        // is kept the statement does not say either: software of a trusted maker's attests in this format.
        return AttestationProof(
            type: .basic, chain: chain, mayMeetProfile: true,
            unproven: [AttestationProof.keyStorage])
    }

    /// Without certificates the new key vouches for itself.
    private static func verifySelf(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        guard let number = statement["alg"]?.integer, let signature = statement["sig"]?.bytes else {
            throw .attestationStatementMalformed
        }
        guard number == claim.key.algorithm.rawValue else { throw .attestationAlgorithmMismatch }
        guard claim.key.publicKey.isValid(signature: signature, for: claim.toBeSigned) else {
            throw .attestationSignatureInvalid
        }
        return AttestationProof(
            type: .selfSigned, chain: nil, mayMeetProfile: false,
            unproven: AttestationProof.ofTheAuthenticator)
    }

    /// §8.2.1: version 3, a subject that names country, organisation, unit and model, and no CA.
    ///
    /// A certificate without basicConstraints is none of a CA (RFC 5280 §4.2.1.9), so it is taken.
    private static func verifyRequirements(
        of certificate: Certificate
    ) throws(VerificationFailure) {
        let subject = certificate.subject
        guard certificate.version == 3, certificate.isCA != true,
            let country = subject[.country], country.utf8.count == 2,
            let organization = subject[.organization], !organization.isEmpty,
            let unit = subject[.organizationalUnit],
            unit.utf8.elementsEqual("Authenticator Attestation".utf8),
            let name = subject[.commonName], !name.isEmpty
        else { throw .attestationCertificateInvalid }
    }
}
