import Countersign

extension CustomerStanding {
    /// Reads the columns that every load of a customer has.
    init(_ row: Row) throws(PostgresError) {
        self.init(failures: try row["customer_failures"], lockedUntil: try row["locked_until"])
    }
}

extension CustomerVersion {
    /// Reads the columns that every load of a customer has.
    init(_ row: Row) throws(PostgresError) {
        self.init(
            subject: try row["subject_id"], version: try row["customer_version"],
            wrappedKey: try row["wrapped"])
    }
}

extension OpeningContext {
    /// Reads a row of `load_enrolment_opening`.
    init(_ row: Row, policy: Policy) throws(PostgresError) {
        self.init(
            at: try row["now"], policy: policy, standing: try CustomerStanding(row),
            customer: try CustomerVersion(row), passkeys: try [ListedPasskey](row),
            userHandle: try row["user_handle"])
    }
}

extension EnrolmentContext {
    /// Reads a row of `load_enrolment`.
    init(_ row: Row, policy: Policy) throws(PostgresError) {
        let possession: Possession =
            try row["has_credentials"] ? .active : try row["had_credentials"] ? .former : .none
        self.init(
            at: try row["now"], policy: policy, standing: try CustomerStanding(row),
            customer: try CustomerVersion(row), enrolment: try RecordedEnrolment(row),
            authorization: try RecordedAuthorization(loaded: row),
            voucher: try RegisteredCredential(loaded: row),
            voucherHead: try ChainHead(ofCredential: row), possession: possession,
            passkeys: try [ListedPasskey](row))
    }
}

extension RecordedEnrolment {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["enrolment_id"],
            customerID: try word("customer_id", row) { try? CustomerID($0) },
            kind: try word("enrolment_kind", row, CredentialKind.init),
            label: try row["enrolment_label"], userHandle: try row["enrolment_user_handle"],
            message: try row["enrolment_message"], createdAt: try row["enrolment_created_at"],
            expiresAt: try row["enrolment_expires_at"], isSpent: try row["enrolment_is_spent"])
    }
}

extension RecordedAuthorization {
    /// Reads the question of a load; `nil` when the request named none of this enrolment.
    fileprivate init?(loaded row: Row) throws(PostgresError) {
        guard let id: ID<Challenge> = try row["authorization_id"] else { return nil }
        self.init(
            id: id, message: try row["authorization_message"],
            expiresAt: try row["authorization_expires_at"],
            isSpent: try row["authorization_is_spent"], keyDigest: try row["key_digest"])
    }
}

extension RecordedCredential {
    /// Reads the columns that `list_credentials` and `load_credential_revocation` share.
    init(_ row: Row, _ rules: PolicyRules) throws(PostgresError) {
        let kind = try word("kind", row, CredentialKind.init)
        let createdAt: Instant = try row["created_at"]
        self.init(
            id: try row["id"], customerID: try word("customer_id", row) { try? CustomerID($0) },
            kind: kind, status: try word("status", row, Status.init), label: try row["label"],
            createdAt: createdAt,
            usableAt: rules.usableAt(createdAt: createdAt, now: try row["now"]),
            revokedAt: try row["revoked_at"], attestation: try Attestation(row),
            signatureFormat: kind == .deviceKey
                ? try word("signature_format", row, SignatureFormat.init) : nil,
            backupEligible: try row["backup_eligible"], backupState: try row["backup_state"])
    }
}

extension RevocationContext {
    /// Reads a row of `load_credential_revocation`.
    init(_ row: Row, policy: Policy) throws(PostgresError) {
        self.init(
            at: try row["now"], credential: try RecordedCredential(row, policy.rules),
            customer: try CustomerVersion(row),
            head: ChainHead(
                length: try row["credential_seq"], leafHash: try row["credential_head"]),
            openActions: try ChainHead.list("open_actions", row).map {
                OpenAction(id: $0.id, head: $0.head)
            },
            openQuestions: try OpenQuestions(row) ?? .none)
    }
}

extension ChainHead {
    /// Reads a column of chains, each as `id:length:head`, with commas between.
    static func list<Entity>(
        _ column: String, _ row: Row
    ) throws(PostgresError) -> [(id: ID<Entity>, head: ChainHead)] {
        let text: String = try row[column]
        return try text.split(separator: ",").map { entry throws(PostgresError) in
            let parts = entry.split(separator: ":")
            guard parts.count == 3, let id = ID<Entity>(parts[0]), let length = Int(parts[1]),
                let head = Hex.decode(parts[2]).flatMap(Digest.init)
            else { throw .malformedColumn(column) }
            return (id, ChainHead(length: length, leafHash: head))
        }
    }

    /// Where the chain of the credential of a load ends; `nil` when there is none.
    init?(ofCredential row: Row) throws(PostgresError) {
        guard let length: Int = try row["credential_seq"] else { return nil }
        self.init(length: length, leafHash: try row["credential_head"])
    }
}

extension CredentialReference {
    /// The two parameters by which a load finds a credential: its ID, or the ID of its passkey.
    static func parameters(_ reference: CredentialReference?) -> [Parameter] {
        switch reference {
        case .id(let id): [.id(id), .null]
        case .passkey(let rawID): [.null, .bytes(rawID)]
        case nil: [.null, .null]
        }
    }
}

extension VerifiedAssertion {
    /// As the column holds it: a passkey's own count, or the counter of App Attest beside a device key;
    /// `nil` when none was told, and the last one stays.
    var signCount: Int64? {
        switch self {
        case .deviceKey(let counter): counter.map(Int64.init)
        case .passkey(let count, _, _): Int64(count)
        }
    }
}
