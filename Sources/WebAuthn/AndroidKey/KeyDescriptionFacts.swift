package import Countersign

/// The facts as a document for evidence, in the words of the schema.
extension KeyDescription {
    /// Everything that was read, the device's identifiers included if it attested them.
    package var facts: JSON {
        [
            "attestationVersion": .integer(attestationVersion),
            "attestationSecurityLevel": .string(attestationSecurityLevel.text),
            "keyMintVersion": .integer(keyMintVersion),
            "keyMintSecurityLevel": .string(keyMintSecurityLevel.text),
            "attestationChallenge": .string(Base64.encodeURL(challenge)),
            "uniqueId": .string(Base64.encodeURL(uniqueID)),
            "softwareEnforced": softwareEnforced.facts,
            "hardwareEnforced": hardwareEnforced.facts,
        ]
    }
}

extension AuthorizationList {
    fileprivate var facts: JSON {
        var members = AuthorizationTag.allCases.compactMap { tag in
            values[tag].map { JSON.Member(tag.name, $0.facts(tag)) }
        }
        members.append(JSON.Member("tags", .array(tags.map { .integer(Int64($0)) })))
        if !unknownTags.isEmpty {
            members.append(
                JSON.Member("unknownTags", .array(unknownTags.map { .integer(Int64($0)) })))
        }
        return .object(members)
    }
}

extension AuthorizationList.Value {
    fileprivate func facts(_ tag: AuthorizationTag) -> JSON {
        switch self {
        case .integer(let number): Self.name(number, of: tag)
        case .integers(let numbers): .array(numbers.map { Self.name($0, of: tag) })
        case .present: .bool(true)
        case .octets(let bytes): Self.text(bytes, of: tag)
        case .rootOfTrust(let root): root.facts
        case .applicationID(let id): id.facts
        }
    }

    /// The name where KeyMint has one and a reader needs it; a number that has none stays a number.
    private static func name(_ number: Int64, of tag: AuthorizationTag) -> JSON {
        let names: [AuthorizationTag: [Int64: String]] = [
            .purpose: KeyMint.Purpose.names, .algorithm: KeyMint.Algorithm.names,
            .origin: KeyMint.Origin.names,
        ]
        return names[tag]?[number].map(JSON.string) ?? .integer(number)
    }

    /// Texts as they are, other bytes in base64url.
    private static func text(_ bytes: Bytes, of tag: AuthorizationTag) -> JSON {
        if tag.isText, let text = String(validating: bytes, as: UTF8.self) { return .string(text) }
        return .string(Base64.encodeURL(bytes))
    }
}

extension RootOfTrust {
    fileprivate var facts: JSON {
        var members = [
            JSON.Member("verifiedBootKey", .string(Base64.encodeURL(verifiedBootKey))),
            JSON.Member("deviceLocked", .bool(isDeviceLocked)),
            JSON.Member("verifiedBootState", .string(verifiedBootState.text)),
        ]
        if let hash = verifiedBootHash {
            members.append(JSON.Member("verifiedBootHash", .string(Base64.encodeURL(hash))))
        }
        return .object(members)
    }
}

extension AttestationApplicationID {
    fileprivate var facts: JSON {
        [
            "packages": .array(
                packages.map {
                    [
                        "name": .string(String(decoding: $0.name, as: UTF8.self)),
                        "version": .integer($0.version),
                    ]
                }),
            "signatureDigests": .array(signatureDigests.map { .string(Hex.encode($0)) }),
        ]
    }
}
