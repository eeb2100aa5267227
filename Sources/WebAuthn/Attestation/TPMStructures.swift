import Countersign
import Crypto

/// TPMT_PUBLIC: a key as the TPM describes it. Source: TPM 2.0 Part 2 §12.2.4.
struct TPMPublicArea {
    /// The structure as it came; its hash is the key's name.
    let encoded: Bytes
    /// TPMA_OBJECT. Part 2 §8.3.
    let attributes: UInt32
    /// Whether the key was made in this TPM and cannot leave it: fixedTPM, fixedParent and
    /// sensitiveDataOrigin. Source: TPM 2.0 Part 2 §8.3.2.
    var isMadeInside: Bool { attributes & 0x32 == 0x32 }
    let publicKey: PublicKey
    private let nameAlgorithm: HashAlgorithm
    private let nameAlgorithmNumber: UInt16

    /// Of an exponent that is written as 0. Part 2 §12.2.3.5.
    private static let rsaExponentDefault: Bytes = [0x01, 0x00, 0x01]

    /// Reads a whole structure of an RSA key, or of an ECC key of P-256 or P-384.
    init(parsing encoded: Bytes) throws(VerificationFailure) {
        var reader = TPMReader(encoded)
        let type = try reader.identifier()
        let nameAlgorithm = try reader.identifier()
        attributes = UInt32(truncatingIfNeeded: try reader.number(4))
        // authPolicy
        _ = try reader.sized()
        // TPMT_SYM_DEF_OBJECT: a key that signs encrypts no other keys. Part 2 §11.1.7.
        guard try reader.identifier() == TPMAlgorithm.null else {
            throw .attestationStatementMalformed
        }
        do throws(KeyError) {
            switch type {
            case TPMAlgorithm.rsa: publicKey = try Self.rsa(&reader)
            case TPMAlgorithm.ecc: publicKey = try Self.ecc(&reader)
            default: throw .unsupported
            }
        } catch {
            throw .attestationStatementMalformed
        }
        guard reader.isAtEnd else { throw .attestationStatementMalformed }
        self.encoded = encoded
        nameAlgorithmNumber = nameAlgorithm
        // Not SHA-1: a name that somebody could give to two keys names none.
        switch nameAlgorithm {
        case TPMAlgorithm.sha256: self.nameAlgorithm = .sha256
        case TPMAlgorithm.sha384: self.nameAlgorithm = .sha384
        case TPMAlgorithm.sha512: self.nameAlgorithm = .sha512
        default: throw .attestationStatementMalformed
        }
    }

    /// nameAlg ‖ hash of the structure. Source: TPM 2.0 Part 1 §16.
    var name: Bytes {
        [UInt8(nameAlgorithmNumber >> 8), UInt8(truncatingIfNeeded: nameAlgorithmNumber)]
            + hash(encoded, using: nameAlgorithm)
    }

    /// TPMS_RSA_PARMS after the symmetric algorithm, then the modulus. Part 2 §12.2.3.5.
    private static func rsa(_ reader: inout TPMReader) throws(KeyError) -> PublicKey {
        let modulus: Bytes
        var exponent: Bytes
        let bits: UInt64
        do {
            try scheme(&reader, TPMAlgorithm.rsassa)
            bits = try reader.number(2)
            exponent = Bytes(try reader.bytes(4).drop { $0 == 0 })
            modulus = Bytes(try reader.sized().drop { $0 == 0 })
        } catch {
            throw .malformed
        }
        guard modulus.count * 8 == bits else { throw .malformed }
        if exponent.isEmpty { exponent = rsaExponentDefault }
        return try PublicKey(rsaModulus: modulus, exponent: exponent)
    }

    /// TPMS_ECC_PARMS after the symmetric algorithm, then the point. Part 2 §12.2.3.6, §11.2.5.
    private static func ecc(_ reader: inout TPMReader) throws(KeyError) -> PublicKey {
        let curve: UInt16
        let x: Bytes
        let y: Bytes
        do {
            try scheme(&reader, TPMAlgorithm.ecdsa)
            curve = try reader.identifier()
            // TPMT_KDF_SCHEME: of no use for a key that signs.
            guard try reader.identifier() == TPMAlgorithm.null else {
                throw VerificationFailure.attestationStatementMalformed
            }
            x = try reader.sized()
            y = try reader.sized()
        } catch {
            throw .malformed
        }
        switch curve {
        // TPM_ECC_NIST_P256 and …P384. Part 2 §6.4.
        case 0x0003: return try PublicKey(p256: try point(x, y, width: 32))
        case 0x0004: return try PublicKey(p384: try point(x, y, width: 48))
        default: throw .unsupported
        }
    }

    /// TPMT_RSA_SCHEME or TPMT_ECC_SCHEME: none, or the one that the credential's algorithms have,
    /// with its hash. Part 2 §11.2.4.2, §11.2.5.6.
    private static func scheme(
        _ reader: inout TPMReader, _ expected: UInt16
    ) throws(VerificationFailure) {
        switch try reader.identifier() {
        case TPMAlgorithm.null: break
        case expected: _ = try reader.identifier()
        default: throw .attestationStatementMalformed
        }
    }

    /// The coordinates are numbers: some TPMs drop leading zeros, and some writers add one.
    private static func point(_ x: Bytes, _ y: Bytes, width: Int) throws(KeyError) -> Bytes {
        var point: Bytes = [0x04]
        for number in [x, y] {
            let digits = number.drop { $0 == 0 }
            guard digits.count <= width else { throw .malformed }
            point += Bytes(repeating: 0, count: width - digits.count) + digits
        }
        return point
    }
}

/// TPMS_ATTEST of the type TPM_ST_ATTEST_CERTIFY: that a key is inside the TPM.
///
/// Source: TPM 2.0 Part 2 §10.12.
struct TPMCertifyInfo {
    /// What the caller had signed with it: here the hash of what is attested.
    let extraData: Bytes
    /// The name of the certified key.
    let name: Bytes

    /// TPM_GENERATED_VALUE: the TPM signs nothing of others that begins so. Part 2 §6.2.
    private static let magic: UInt64 = 0xFF54_4347
    /// TPM_ST_ATTEST_CERTIFY. Part 2 §6.9.
    private static let certify: UInt16 = 0x8017
    /// clock, resetCount, restartCount and safe. Part 2 §10.11.1.
    private static let clockInfoBytes = 17
    private static let firmwareVersionBytes = 8

    init(parsing encoded: Bytes) throws(VerificationFailure) {
        var reader = TPMReader(encoded)
        guard try reader.number(4) == Self.magic, try reader.identifier() == Self.certify else {
            throw .attestationStatementMalformed
        }
        // qualifiedSigner
        _ = try reader.sized()
        extraData = try reader.sized()
        _ = try reader.bytes(Self.clockInfoBytes + Self.firmwareVersionBytes)
        name = try reader.sized()
        // qualifiedName
        _ = try reader.sized()
        guard reader.isAtEnd else { throw .attestationStatementMalformed }
    }
}
