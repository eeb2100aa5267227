import Countersign
import Evidence

extension Attestation {
    /// Reads what `list_credentials` and `load_credential_revocation` have of an attestation: all but the
    /// statement, which is as long as its sender liked.
    init(_ row: Row) throws(PostgresError) {
        let text: String = try row["facts"]
        guard let facts = JSON(recorded: Bytes(text.utf8)) else { throw .malformedColumn("facts") }
        self.init(
            verdict: try word("attestation_verdict", row, AttestationVerdict.init),
            format: try row["attestation_format"], facts: facts,
            profiles: try [AttestationProfile](row), appAttestKey: try row["app_attest_key"])
    }
}

extension [AttestationProfile] {
    /// Reads the column `profiles`: names with commas between.
    init(_ row: Row) throws(PostgresError) {
        let text: String = try row["profiles"]
        self = try text.split(separator: ",").map { name throws(PostgresError) in
            guard let profile = AttestationProfile(rawValue: String(name)) else {
                throw .malformedColumn("profiles")
            }
            return profile
        }
    }
}

extension [ListedPasskey] {
    /// Reads the column `passkeys`: what `active_passkeys` makes.
    init(_ row: Row) throws(PostgresError) {
        let text: String = try row["passkeys"]
        guard case .array(let list)? = JSON(recorded: Bytes(text.utf8)) else {
            throw .malformedColumn("passkeys")
        }
        self = try list.map { json throws(PostgresError) in
            guard let passkey = ListedPasskey(json) else { throw .malformedColumn("passkeys") }
            return passkey
        }
    }
}

extension ListedPasskey {
    fileprivate init?(_ json: JSON) {
        guard let id = json["id"]?.text.flatMap({ Hex.decode($0) }),
            let transports = json["transports"]?.texts,
            case .bool(let isBackupEligible)? = json["backup_eligible"],
            let names = json["profiles"]?.texts
        else { return nil }
        let profiles = names.compactMap(AttestationProfile.init(rawValue:))
        guard profiles.count == names.count else { return nil }
        self.init(
            credentialID: id, transports: transports, isBackupEligible: isBackupEligible,
            profiles: profiles)
    }
}

extension OpenQuestions {
    /// Reads the column `open_questions`: what the function of that name makes; `nil` when it was not
    /// asked.
    init?(_ row: Row) throws(PostgresError) {
        guard let text: String = try row["open_questions"] else { return nil }
        let json = JSON(recorded: Bytes(text.utf8))
        func ids(_ name: String) throws(PostgresError) -> [ID<Challenge>] {
            guard let texts = json?[name]?.texts else { throw .malformedColumn("open_questions") }
            return try texts.map { text throws(PostgresError) in
                guard let id = ID<Challenge>(text) else { throw .malformedColumn("open_questions") }
                return id
            }
        }
        self.init(challenges: try ids("challenges"), authorizations: try ids("authorizations"))
    }
}

extension JSON {
    /// The texts of an array of nothing else.
    fileprivate var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap(\.text)
        return texts.count == values.count ? texts : nil
    }
}

extension OpenQuestions {
    /// The two parameters that name what ends: nothing at all for `nil`.
    static func parameters(_ ended: OpenQuestions?) -> [Parameter] {
        guard let ended else { return [.null, .null] }
        return [.idArray(ended.challenges), .idArray(ended.authorizations)]
    }
}

extension Attestation {
    /// The columns of `credential_attestation` by name; `null` when no statement came.
    var columns: JSON {
        guard format != nil else { return .null }
        return [
            "statement": .array(statement.map { .bytea($0) }),
            "facts": .string(String(decoding: facts.encoded, as: UTF8.self)),
            "profiles": .array(profiles.map { .string($0.rawValue) }),
            "app_attest_key": appAttestKey.map { .bytea($0) } ?? .null,
        ]
    }
}

extension JSON {
    /// Bytes as Postgres reads them into a `bytea` column of a record.
    static func bytea(_ bytes: Bytes) -> JSON { .string("\\x" + Hex.encode(bytes)) }
}
