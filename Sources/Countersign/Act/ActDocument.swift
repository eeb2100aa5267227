/// A value of an act's document that is not acceptable.
package struct InvalidActMember: Error, Equatable, Sendable {
    /// Within the document; a JSON pointer (RFC 6901).
    package let pointer: String
    package let value: InvalidValue

    /// Takes the place and what is wrong there.
    package init(_ pointer: String, _ value: InvalidValue) {
        self.pointer = pointer
        self.value = value
    }

    init(_ pointer: String, _ code: String, _ detail: String) {
        self.init(pointer, InvalidValue(code, detail))
    }
}

/// The document of an act that publishes a policy: the new document, the version that it was written
/// against, what is different, and from when it shall hold.
package struct PolicyProposal: Sendable {
    package let policy: JSON
    package let rules: PolicyRules
    /// `nil` for as soon as enough people have signed.
    package let activeFrom: Instant?
    package let baseVersion: Int

    /// A time that is stated may have passed by so much when the act is made or takes effect.
    package static let lateMax = Seconds(60)

    /// Reads what was sent: `{"policy": …, "active_from"?: …, "base_version"?: …}`.
    ///
    /// - Parameters:
    ///   - json: What was sent, or the document of a recorded act.
    ///   - newest: The version against which it is meant when it does not say.
    /// - Throws: ``InvalidActMember``, the first that is wrong.
    package init(_ json: JSON, newest: Int) throws(InvalidActMember) {
        try ActDocument.refuseOthers(
            than: ["active_from", "base_digest", "base_version", "difference", "policy"], in: json)
        guard let policy = json["policy"], case .object = policy else {
            throw InvalidActMember("/policy", "policy_missing", "A policy document is needed here.")
        }
        if let pointer = ActDocument.fraction(in: policy, at: "/policy") {
            throw InvalidActMember(
                pointer, "number_not_whole", "Only whole numbers of 64 bits can stand here.")
        }
        self.policy = policy
        do throws(PolicyFault) { rules = try PolicyRules(document: policy) } catch {
            throw InvalidActMember("/policy" + error.pointer, error.code, error.detail)
        }
        switch json["active_from"] {
        case nil, .null: activeFrom = nil
        case let value?:
            guard let instant = value.text.flatMap({ Instant(text: $0) }), instant.isWritable
            else {
                throw InvalidActMember(
                    "/active_from", "time_format", "A time of RFC 3339 in UTC with Z is needed.")
            }
            activeFrom = instant
        }
        switch json["base_version"] {
        case nil, .null: baseVersion = newest
        case .integer(let version)?: baseVersion = Int(version)
        default:
            throw InvalidActMember("/base_version", "number_needed", "A whole number is needed.")
        }
    }

    /// The document that is signed.
    package func document(against base: PublishedPolicy) -> JSON {
        [
            "active_from": .optional(activeFrom?.text),
            "base_digest": .string(base.digest.hex),
            "base_version": .integer(Int64(base.version)),
            "difference": .array(
                JSONDifference.between(base.content, policy).map(\.json)),
            "policy": policy,
        ]
    }
}

/// What the readers of documents share.
enum ActDocument {
    static func refuseOthers(
        than names: [String], in json: JSON
    ) throws(InvalidActMember) {
        guard case .object(let members) = json else {
            throw InvalidActMember("", "object_needed", "An object is needed here.")
        }
        guard let other = members.first(where: { !names.contains($0.name) }) else { return }
        throw InvalidActMember(
            "/" + JSON.pointerStep(other.name), "member_unknown",
            "There is no member of this name here.")
    }

    /// The member `action_id`.
    static func action(in json: JSON) throws(InvalidActMember) -> ID<Action> {
        guard let id = json["action_id"]?.text.flatMap({ ID<Action>($0) }) else {
            throw InvalidActMember("/action_id", "id_needed", "The ID of an action is needed here.")
        }
        return id
    }

    /// The member `reason`.
    static func reason(in json: JSON) throws(InvalidActMember) -> DisplayText {
        guard let text = json["reason"]?.text else {
            throw InvalidActMember("/reason", "text_needed", "A reason is needed here.")
        }
        do throws(InvalidValue) { return try DisplayText(text, .actReason) } catch {
            throw InvalidActMember("/reason", error)
        }
    }

    /// Where a number stands that is no whole number of 64 bits: it could not be written down again.
    static func fraction(in json: JSON, at pointer: String) -> String? {
        switch json {
        case .fraction: return pointer
        case .array(let values):
            for (index, value) in values.enumerated() {
                if let found = fraction(in: value, at: pointer + "/\(index)") { return found }
            }
        case .object(let members):
            for member in members {
                let place = pointer + "/" + JSON.pointerStep(member.name)
                if let found = fraction(in: member.value, at: place) { return found }
            }
        case .null, .bool, .integer, .string: break
        }
        return nil
    }
}

/// The document of an act that admits a key: the key, and whose it is.
package enum KeyAdmission {
    /// Reads what was sent: `{"key_id": …}`.
    package static func keyID(of json: JSON) throws(InvalidActMember) -> ID<PersonKey> {
        try ActDocument.refuseOthers(than: ["key_id"], in: json)
        guard let id = json["key_id"]?.text.flatMap({ ID<PersonKey>($0) }) else {
            throw InvalidActMember("/key_id", "id_needed", "The ID of a key is needed here.")
        }
        return id
    }

    /// The document that is signed; it names the key by digest, so that no other one is admitted.
    package static func document(of key: RecordedPersonKey, sha256: Hasher256) -> JSON {
        [
            "key_id": .string(key.id.text), "label": .string(key.label),
            "person": .string(key.person.name),
            "public_key_digest": .string(sha256(key.stored.key).hex),
            "registered_at": .string(key.registeredAt.text),
            "role": .string(key.person.role.rawValue),
        ]
    }

    /// The key of a recorded act's document.
    package static func keyID(recorded document: JSON) -> ID<PersonKey>? {
        document["key_id"]?.text.flatMap { ID<PersonKey>($0) }
    }
}
