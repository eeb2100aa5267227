import Countersign
import Crypto
import TestSupport
import WebAuthn

/// A description of a key as secure hardware would write it: fully good, until a test changes a part.
///
/// Synthetic: no published device attests a key that is used with a biometric every time.
struct DescriptionDraft {
    var version: Int64 = 300
    var attestationLevel: Int64 = 1
    var keyMintLevel: Int64 = 1
    var challenge: Bytes
    var software: [(tag: Int, value: Bytes)]
    var hardware: [(tag: Int, value: Bytes)]
    /// What else stands in the hardware's list.
    var untagged: Bytes = []

    static let packageName = "com.example.bank"
    static let signerDigest = Bytes(repeating: 0xAB, count: 32)

    init(challenge: Bytes) {
        self.challenge = challenge
        software = [
            (701, DER.integer(1_750_000_000_000)),
            (709, Self.application([Self.packageName], [Self.signerDigest])),
        ]
        hardware = [
            (1, Self.numbers(2)), (2, DER.integer(3)), (3, DER.integer(256)), (5, Self.numbers(4)),
            (10, DER.integer(1)), (504, DER.integer(2)), (702, DER.integer(0)),
            (704, Self.rootOfTrust()), (705, DER.integer(140_000)), (706, DER.integer(202_506)),
            (718, DER.integer(20_250_605)), (719, DER.integer(20_250_605)),
        ]
    }

    static func numbers(_ numbers: Int64...) -> Bytes { DER.set(numbers.map { DER.integer($0) }) }

    static func application(_ packages: [String], _ digests: [Bytes]) -> Bytes {
        DER.octets(
            DER.sequence(
                DER.set(packages.map { DER.sequence(DER.octets(Bytes($0.utf8)), DER.integer(7)) }),
                DER.set(digests.map { DER.octets($0) })))
    }

    static func rootOfTrust(locked: Bytes = DER.boolean(true), state: Int64 = 0) -> Bytes {
        DER.sequence(
            DER.octets(Bytes(repeating: 1, count: 32)), locked, DER.enumerated(state),
            DER.octets(Bytes(repeating: 2, count: 32)))
    }

    /// Replaces, inserts in its place, or takes out (`nil`) a property that the hardware enforces.
    mutating func hardware(_ tag: Int, _ value: Bytes?) { Self.put(tag, value, into: &hardware) }
    /// The same of the software's list.
    mutating func software(_ tag: Int, _ value: Bytes?) { Self.put(tag, value, into: &software) }
    /// Leaves a property to the software.
    mutating func moveToSoftware(_ tag: Int) {
        software(tag, hardware.first { $0.tag == tag }?.value)
        hardware(tag, nil)
    }

    private static func put(
        _ tag: Int, _ value: Bytes?, into list: inout [(tag: Int, value: Bytes)]
    ) {
        list.removeAll { $0.tag == tag }
        if let value { list.append((tag, value)) }
        list.sort { $0.tag < $1.tag }
    }

    var encoded: Bytes {
        DER.sequence(
            DER.integer(version), DER.enumerated(attestationLevel), DER.integer(version),
            DER.enumerated(keyMintLevel), DER.octets(challenge), DER.octets([]),
            Self.list(software), Self.list(hardware, untagged))
    }

    private static func list(_ items: [(tag: Int, value: Bytes)], _ more: Bytes = []) -> Bytes {
        DER.sequence(items.map { DER.explicit($0.tag, $0.value) } + [more])
    }
}

/// A synthetic phone below a synthetic root, and a server that trusts that root.
struct SyntheticPhone {
    let root: TestAuthority
    let intermediate: TestAuthority
    let attestation: TestAuthority
    let key: P256PrivateKey
    static let challenge = Bytes("one challenge, used once".utf8)
    static let now = Instant(milliseconds: 1_750_000_000_000)

    /// Of a factory-provisioned phone, whose intermediate has a serial number, or of a remotely
    /// provisioned one; either may have limited dates.
    init(
        isFactory: Bool = true, _ change: (inout TestCertificate) -> Void = { _ in }
    ) throws {
        root = try TestAuthority()
        intermediate = try TestAuthority(
            "Synthetic intermediate", serialNumber: isFactory ? "90e8da3cadfc7820" : nil,
            below: root, change)
        attestation = try TestAuthority("Synthetic TEE", below: intermediate)
        key = try P256PrivateKey.generate()
    }

    /// The leaf with this description, then the phone's chain with its root.
    func certificates(
        _ description: DescriptionDraft = DescriptionDraft(challenge: challenge),
        leaf change: (inout TestCertificate) -> Void = { _ in }
    ) throws -> [Bytes] {
        let leaf = try attestation.certify(key.publicKey.spki, name: "Android Keystore Key") {
            $0.notBefore = Instant(milliseconds: 0)
            $0.notAfter = Instant(milliseconds: 0)
            $0.extensions = [Self.ext(description)]
            change(&$0)
        }
        return [leaf, attestation.certificate, intermediate.certificate, root.certificate]
            .map(\.der)
    }

    static func ext(_ description: DescriptionDraft) -> Bytes {
        TestCertificate.ext(KeyDescription.oid, description.encoded)
    }

    static func revocations(
        _ serials: [String] = [], status: String = "REVOKED", fetchedAt: Instant = now
    ) throws -> RevocationList {
        // Never empty, as Google's is not.
        let entries = (["f00"] + serials).map { JSON.Member($0, ["status": .string(status)]) }
        let list: JSON = ["entries": .object(entries)]
        return try RevocationList(json: list.encoded, fetchedAt: fetchedAt)
    }

    func trust(_ revocations: RevocationList?) -> AndroidTrust {
        AndroidTrust(
            roots: [root.certificate], revocations: revocations,
            revocationsAgeMax: Seconds(86_400))
    }

    func verify(
        _ certificates: [Bytes], challenge: Bytes = challenge, key: Bytes? = nil,
        at now: Instant = now
    ) throws -> AndroidKeyAttestation {
        try AndroidKeyAttestation.verify(
            certificates: certificates, challenge: challenge,
            key: key ?? self.key.publicKey.spki, at: now,
            trust: try trust(Self.revocations(fetchedAt: now)))
    }

    /// Verifies a changed description.
    func verify(_ change: (inout DescriptionDraft) -> Void) throws -> AndroidKeyAttestation {
        var draft = DescriptionDraft(challenge: Self.challenge)
        change(&draft)
        return try verify(try certificates(draft))
    }
}
