import Countersign
import Crypto

/// The format `apple`: a certificate made for this one key. Source: WebAuthn L3 §8.8 (WX-14).
enum AppleAttestation {
    private static let nonceExtension = "1.2.840.113635.100.8.2"

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
        return AttestationProof(type: .anonymizationCA, chain: chain)
    }

    /// The extension's content: SEQUENCE { [1] EXPLICIT OCTET STRING }.
    private static func nonce(in certificate: Certificate) throws(VerificationFailure) -> Bytes {
        let extensions = certificate.extensions(nonceExtension)
        guard extensions.count == 1 else { throw .attestationCertificateInvalid }
        do {
            var reader = try DERReader.only(extensions[0].value).sequence()
            let nonce = try reader.next().explicit(1).octets()
            try reader.end()
            return nonce
        } catch {
            throw .attestationCertificateInvalid
        }
    }
}
