import Countersign

/// A key, the one format in which it signs, and what a policy looks at in it: fixed when it was enrolled.
struct EnrolledKey {
    private let publicKey: String?
    private let format: SignatureFormat?
    private let profiles: Set<String>
    private let isBackupEligible: Bool

    /// Reads the body of an enrolment. One that says nothing of profiles, or of copies, gave none.
    init(enrolledBy body: JSON) {
        publicKey = body["public_key"]?.text
        format = body.signatureFormat
        profiles = body["attestation"]?["profiles"]?.names ?? []
        isBackupEligible = body["backup_eligible"]?.truth ?? false
    }

    /// Checks that a signed decision was signed with this key, and took it for what it is.
    ///
    /// - Throws: ``EvidenceFault/notEnrolled`` or ``EvidenceFault/keyTraits``.
    func demandIsWhatSigned(_ body: JSON) throws(EvidenceFault) {
        guard let publicKey, body["public_key"]?.text == publicKey, format == body.signatureFormat
        else { throw .notEnrolled }
        guard isWhatDecided(body) else { throw .keyTraits }
    }

    /// Whether a decision took the key for what it is: a profile that was added in the database since, or
    /// a copy that is hidden there, lets a policy allow what it forbids.
    ///
    /// What a decision does not say did not count in it: records of before policies asked have neither.
    private func isWhatDecided(_ body: JSON) -> Bool {
        let inputs = body["policy"]?["inputs"]
        return [body["profiles"], inputs?["credential_profiles"]].compactMap(\.self)
            .allSatisfy { $0.names == profiles }
            && (inputs?["credential_backup_eligible"]).map { $0.truth == isBackupEligible } ?? true
    }
}

extension JSON {
    /// Names as an array of texts, or as one text with commas between; `nil` for anything else.
    fileprivate var names: Set<String>? {
        switch self {
        case .string(let text): return Set(text.split(separator: ",").map(String.init))
        case .array(let values):
            let names = values.compactMap(\.text)
            return names.count == values.count ? Set(names) : nil
        case .object, .integer, .fraction, .bool, .null: return nil
        }
    }

    /// A truth value, or its word; `nil` for anything else.
    fileprivate var truth: Bool? {
        switch self {
        case .bool(let value): value
        case .string(let word): Bool(word)
        case .object, .array, .integer, .fraction, .null: nil
        }
    }
}
