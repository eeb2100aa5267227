import Countersign
import Crypto

/// What the boot of the device proved. Source: the attestation extension's RootOfTrust.
struct RootOfTrust: Hashable, Sendable {
    enum BootState: Int64, Sendable {
        case verified = 0
        case selfSigned = 1
        case unverified = 2
        case failed = 3

        var text: String {
            switch self {
            case .verified: "VERIFIED"
            case .selfSigned: "SELF_SIGNED"
            case .unverified: "UNVERIFIED"
            case .failed: "FAILED"
            }
        }
    }

    let verifiedBootKey: Bytes
    let isDeviceLocked: Bool
    let verifiedBootState: BootState
    /// `nil` before version 3 of the attestation.
    let verifiedBootHash: Bytes?

    /// Source: AK-18. A deviceLocked of another byte than 0x00 and 0xFF is malformed.
    init(_ element: DERElement) throws(DERError) {
        var parts = try element.sequence()
        verifiedBootKey = try parts.next().octets()
        isDeviceLocked = try parts.next().boolean()
        guard let state = BootState(rawValue: try parts.next().enumerated()) else {
            throw .malformed
        }
        verifiedBootState = state
        verifiedBootHash = parts.isAtEnd ? nil : try parts.next().octets()
        try parts.end()
    }
}

/// Which application asked for the key, as Android's system says: the packages of its user ID and the
/// certificates that signed them. Source: AK-19, AttestationApplicationId.
struct AttestationApplicationID: Hashable, Sendable {
    struct Package: Hashable, Sendable {
        let name: Bytes
        let version: Int64
    }

    let packages: [Package]
    /// SHA-256 of the signing certificates.
    let signatureDigests: [Bytes]

    init(_ encoded: Bytes) throws(DERError) {
        var parts = try DERReader.only(encoded).sequence()
        var packageSet = try parts.next().set()
        var packages: [Package] = []
        while !packageSet.isAtEnd {
            var package = try packageSet.next().sequence()
            packages.append(
                Package(
                    name: try package.next().octets(), version: try package.next().integer()))
            try package.end()
        }
        var digestSet = try parts.next().set()
        var digests: [Bytes] = []
        while !digestSet.isAtEnd { digests.append(try digestSet.next().octets()) }
        try parts.end()
        self.packages = packages
        signatureDigests = digests
    }
}

/// The properties of a key that one side enforces: the hardware, or the system's software.
struct AuthorizationList: Hashable, Sendable {
    enum Value: Hashable, Sendable {
        case integer(Int64)
        case integers([Int64])
        case present
        case octets(Bytes)
        case rootOfTrust(RootOfTrust)
        case applicationID(AttestationApplicationID)
    }

    /// Every tag in its order, also those that are not read.
    let tags: [Int]
    /// What was read. Of a repeated tag the last counts; ``isWellOrdered`` is then false.
    let values: [AuthorizationTag: Value]

    init(_ element: DERElement) throws(DERError) {
        var items = try element.sequence()
        var tags: [Int] = []
        var values: [AuthorizationTag: Value] = [:]
        while !items.isAtEnd {
            let item = try items.next()
            guard let number = item.explicitTag else { throw .unexpected }
            tags.append(number)
            let content = try item.explicit(number)
            guard let tag = AuthorizationTag(rawValue: number) else { continue }
            values[tag] = try Self.value(tag.content, content)
        }
        self.tags = tags
        self.values = values
    }

    private static func value(
        _ content: AuthorizationTag.Content, _ element: DERElement
    ) throws(DERError) -> Value {
        switch content {
        case .integer: return .integer(try element.integer())
        case .integers:
            var set = try element.set()
            var numbers: [Int64] = []
            while !set.isAtEnd { numbers.append(try set.next().integer()) }
            return .integers(numbers)
        case .presence:
            try element.null()
            return .present
        case .octets: return .octets(try element.octets())
        case .rootOfTrust: return .rootOfTrust(try RootOfTrust(element))
        case .applicationID:
            return .applicationID(try AttestationApplicationID(try element.octets()))
        }
    }

    /// Whether the tags ascend and none is repeated. Source: AK-22; the schema lists them so, and DER
    /// keeps a SEQUENCE in the order of its schema.
    var isWellOrdered: Bool { zip(tags, tags.dropFirst()).allSatisfy { $0 < $1 } }

    /// The tags that are not read.
    var unknownTags: [Int] { tags.filter { AuthorizationTag(rawValue: $0) == nil } }

    func isPresent(_ tag: AuthorizationTag) -> Bool { values[tag] != nil }

    func integer(_ tag: AuthorizationTag) -> Int64? {
        if case .integer(let number)? = values[tag] { number } else { nil }
    }

    func integers(_ tag: AuthorizationTag) -> Set<Int64>? {
        if case .integers(let numbers)? = values[tag] { Set(numbers) } else { nil }
    }

    var rootOfTrust: RootOfTrust? {
        if case .rootOfTrust(let root)? = values[.rootOfTrust] { root } else { nil }
    }

    var applicationID: AttestationApplicationID? {
        if case .applicationID(let id)? = values[.attestationApplicationId] { id } else { nil }
    }
}
