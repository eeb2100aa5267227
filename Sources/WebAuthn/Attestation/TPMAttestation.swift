import Countersign
import Crypto

/// The format `tpm`. Source: WebAuthn L3 §8.3, in its order.
enum TPMAttestation {
    /// tcg-kp-AIKCertificate. Source: WebAuthn L3 §8.3.1.
    private static let attestationKeyUsage = "2.23.133.8.3"

    static func verify(
        _ statement: CBOR, of claim: AttestationClaim
    ) throws(VerificationFailure) -> AttestationProof {
        guard case .text("2.0")? = statement["ver"],
            let number = statement["alg"]?.integer,
            let certInfo = statement["certInfo"]?.bytes,
            let publicArea = statement["pubArea"]?.bytes
        else { throw .attestationStatementMalformed }
        let chain = try AttestationStatement.chain(in: statement)
        // The key that the TPM describes is the credential's.
        let area = try TPMPublicArea(parsing: publicArea)
        guard area.publicKey == claim.key.publicKey else { throw .attestationPublicKeyMismatch }
        guard let algorithm = AttestationStatement.algorithm(number, allowingRS1: true),
            let digest = algorithm.hash
        else { throw .attestationAlgorithmMismatch }
        // What the TPM certified: magic and type are looked at in parsing.
        let info = try TPMCertifyInfo(parsing: certInfo)
        guard info.extraData == hash(claim.toBeSigned, using: digest) else {
            throw .attestationNonceMismatch
        }
        guard info.name == area.name else { throw .attestationPublicKeyMismatch }
        try AttestationStatement.verifySignature(
            in: statement, over: certInfo, by: chain.leaf, allowingRS1: true)
        let module = try verifyRequirements(of: chain.leaf)
        try AttestationStatement.verifyModel(in: chain.leaf, is: claim.credential.model)
        return AttestationProof(
            type: .attestationCA, chain: chain,
            facts: [.init("tpm", facts(module, area))],
            mayMeetProfile: area.isMadeInside,
            unproven: area.isMadeInside ? [] : [AttestationProof.keyStorage])
    }

    /// §8.3.1: version 3, no subject, the module named in the alternative name, its usage, no CA.
    ///
    /// A certificate without basicConstraints is none of a CA (RFC 5280 §4.2.1.9), so it is taken. The
    /// maker's number is looked at for its form only: who may make TPMs is what the anchors say.
    private static func verifyRequirements(
        of certificate: Certificate
    ) throws(VerificationFailure) -> DistinguishedName {
        let names = certificate.alternativeDirectoryNames
        guard certificate.version == 3, certificate.subject.isEmpty, certificate.isCA != true,
            let usages = certificate.extendedKeyUsages, usages.contains(attestationKeyUsage),
            names.count == 1, let module = names.first,
            let manufacturer = module[.tpmManufacturer], isManufacturer(manufacturer),
            let model = module[.tpmModel], !model.isEmpty,
            let version = module[.tpmVersion], !version.isEmpty
        else { throw .attestationCertificateInvalid }
        return module
    }

    /// `id:` and eight hexadecimal digits. Source: TCG EK Credential Profile §3.2.9.
    private static func isManufacturer(_ text: String) -> Bool {
        text.hasPrefix("id:") && Hex.decode(text.dropFirst(3))?.count == 4
    }

    private static func facts(_ module: DistinguishedName, _ area: TPMPublicArea) -> JSON {
        [
            "manufacturer": .optional(module[.tpmManufacturer]),
            "model": .optional(module[.tpmModel].map { String($0.prefix(64)) }),
            "version": .optional(module[.tpmVersion].map { String($0.prefix(64)) }),
            // Bit 1 of TPMA_OBJECT: the key cannot leave this TPM. Part 2 §8.3.
            "fixed_to_this_tpm": .bool(area.attributes & 0x2 != 0),
        ]
    }
}

extension SignatureAlgorithm {
    /// The hash within; `nil` for EdDSA, which has none of its own to name.
    fileprivate var hash: HashAlgorithm? {
        switch self {
        case .es256, .rs256: .sha256
        case .es384: .sha384
        case .rs1: .sha1
        case .eddsa: nil
        }
    }
}
