import Countersign
import Crypto

/// Why a certificate does not describe a key.
enum KeyDescriptionError: Error, Hashable, Sendable {
    case missing
    /// Twice in one certificate.
    case duplicate
    case malformed
    case unknownVersion
}

/// What an Android device says of a key, read from the attestation extension (AK-07).
///
/// Only a claim until ``AndroidKeyAttestation`` has verified the chain it stands in.
package struct KeyDescription: Hashable, Sendable {
    /// id of the extension. Source: AK-07.
    package static let oid = "1.3.6.1.4.1.11129.2.1.17"
    /// The versions of the schema that are read: Keymaster 2 to 4, KeyMint 1 to 5.
    static let versions: Set<Int64> = [1, 2, 3, 4, 100, 200, 300, 400, 500]
    /// Source: AK-08.
    package static let challengeBytesMax = 128

    /// Where the key, or what attests it, lives.
    package enum SecurityLevel: Int64, Comparable, Sendable {
        case software = 0
        case trustedEnvironment = 1
        case strongBox = 2

        /// Orders by strength.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

        var text: String {
            switch self {
            case .software: "SOFTWARE"
            case .trustedEnvironment: "TRUSTED_ENVIRONMENT"
            case .strongBox: "STRONG_BOX"
            }
        }
    }

    let attestationVersion: Int64
    /// What made the attestation.
    package let attestationSecurityLevel: SecurityLevel
    let keyMintVersion: Int64
    /// What holds the key.
    package let keyMintSecurityLevel: SecurityLevel
    let challenge: Bytes
    let uniqueID: Bytes
    let softwareEnforced: AuthorizationList
    let hardwareEnforced: AuthorizationList

    /// Reads the value of the extension.
    init(_ der: Bytes) throws(KeyDescriptionError) {
        do throws(DERError) {
            var parts = try DERReader.only(der).sequence()
            attestationVersion = try parts.next().integer()
            attestationSecurityLevel = try Self.level(try parts.next())
            keyMintVersion = try parts.next().integer()
            keyMintSecurityLevel = try Self.level(try parts.next())
            challenge = try parts.next().octets()
            uniqueID = try parts.next().octets()
            softwareEnforced = try AuthorizationList(try parts.next())
            hardwareEnforced = try AuthorizationList(try parts.next())
            try parts.end()
        } catch {
            throw .malformed
        }
        guard Self.versions.contains(attestationVersion) else { throw .unknownVersion }
    }

    /// Reads the one extension of a certificate.
    init(of certificate: Certificate) throws(KeyDescriptionError) {
        let found = certificate.extensions(Self.oid)
        guard let first = found.first else { throw .missing }
        guard found.count == 1 else { throw .duplicate }
        try self.init(first.value)
    }

    private static func level(_ element: DERElement) throws(DERError) -> SecurityLevel {
        guard let level = SecurityLevel(rawValue: try element.enumerated()) else {
            throw .malformed
        }
        return level
    }
}
