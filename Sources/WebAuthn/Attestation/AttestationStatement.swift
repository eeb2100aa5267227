import Countersign
import Crypto

/// Everything that a statement makes its claim about.
struct AttestationClaim {
    let authenticatorData: AuthenticatorData
    let credential: AttestedCredential
    let key: COSEKey
    let clientDataHash: Bytes

    /// What most formats sign: "attToBeSigned".
    var toBeSigned: Bytes { authenticatorData.raw + clientDataHash }
}

/// What a statement proved by itself, before anybody is trusted about it.
struct AttestationProof {
    /// `none`, `self`, or what it would be under a trusted anchor.
    let type: AttestationVerdict
    /// The certificates that came, the attesting one first; `nil` for `none` and `self`.
    let chain: CertificateChain?
    /// What the format told besides.
    var facts: [JSON.Member] = []
    /// Whether the key meets ``AttestationProfile/fidoTrusted`` under a trusted anchor.
    let mayMeetProfile: Bool
    /// What the statement does not prove of the authenticator, also under a trusted anchor: some of
    /// ``ofTheAuthenticator``.
    let unproven: [String]

    /// All that a statement may prove of an authenticator: its model, and that the key is in hardware.
    static let ofTheAuthenticator = [model, keyStorage]
    static let model = "aaguid"
    static let keyStorage = "key_storage"
}

/// What several formats have in common.
enum AttestationStatement {
    /// Source: IANA COSE Algorithms.
    private static let rs1: Int64 = -65535

    /// `x5c`: an array of one certificate or more, each a byte string.
    static func chain(in statement: CBOR) throws(VerificationFailure) -> CertificateChain {
        guard case .array(let items)? = statement["x5c"], !items.isEmpty else {
            throw .attestationStatementMalformed
        }
        let encoded = items.compactMap(\.bytes)
        guard encoded.count == items.count else { throw .attestationStatementMalformed }
        do {
            return try CertificateChain(der: encoded)
        } catch {
            throw .attestationCertificateInvalid
        }
    }

    /// The algorithm of a statement's number.
    ///
    /// It may be another than the credential's, and one that no credential may have: it is the
    /// attesting key's. RS1 (SHA-1) is here for TPMs alone, most of which sign with it. What is signed
    /// there is made by the TPM, so that nobody can prepare two of a kind; the certificates above it
    /// are judged without SHA-1.
    static func algorithm(_ number: Int64, allowingRS1: Bool = false) -> SignatureAlgorithm? {
        if number == rs1 { return allowingRS1 ? .rs1 : nil }
        return COSEAlgorithm(rawValue: number)?.signature
    }

    /// That the attesting certificate's key made the statement's `sig`, with the statement's `alg`.
    static func verifySignature(
        in statement: CBOR, over message: Bytes, by certificate: Certificate,
        allowingRS1: Bool = false
    ) throws(VerificationFailure) {
        guard let number = statement["alg"]?.integer, let signature = statement["sig"]?.bytes else {
            throw .attestationStatementMalformed
        }
        guard let key = certificate.publicKey else { throw .attestationCertificateInvalid }
        guard let algorithm = algorithm(number, allowingRS1: allowingRS1),
            algorithm == key.algorithm || (algorithm == .rs1 && key.algorithm == .rs256)
        else { throw .attestationAlgorithmMismatch }
        guard key.isValid(signature: signature, for: message, using: algorithm) else {
            throw .attestationSignatureInvalid
        }
    }

    /// id-fido-gen-ce-aaguid, when it is there, names the model of the authenticator data.
    ///
    /// Source: WebAuthn L3 §8.2, §8.2.1, §8.3: it is an OCTET STRING and not critical.
    static func verifyModel(
        in certificate: Certificate, is model: AAGUID
    ) throws(VerificationFailure) {
        let extensions = certificate.extensions("1.3.6.1.4.1.45724.1.1.4")
        guard let found = extensions.first else { return }
        guard extensions.count == 1, !found.isCritical else {
            throw .attestationCertificateInvalid
        }
        let value: Bytes
        do {
            value = try DERReader.only(found.value).octets()
        } catch {
            throw .attestationCertificateInvalid
        }
        guard value == model.bytes else { throw .attestationModelMismatch }
    }
}
