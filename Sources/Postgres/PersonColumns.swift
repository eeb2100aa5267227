import Countersign
import Evidence

extension Person {
    /// Reads the columns `client_id`, `name` and `role`.
    init(_ row: Row, id: String = "client_id") throws(PostgresError) {
        self.init(
            id: try row[id], name: try row["name"],
            role: try word("role", row, PersonRole.init(rawValue:)))
    }
}

extension RecordedPersonKey {
    /// Reads a row of `list_person_keys`.
    init(_ row: Row) throws(PostgresError) {
        let transports: String = try row["transports"]
        let signCount: Int64 = try row["sign_count"]
        self.init(
            id: try row["id"], person: try Person(row), label: try row["label"],
            status: try word("status", row, Status.init(rawValue:)),
            stored: StoredPasskey(
                credentialID: try row["passkey_id"], key: try row["public_key"],
                signCount: UInt32(clamping: signCount),
                backupEligible: try row["backup_eligible"], userHandle: try row["user_handle"]),
            transports: transports.split(separator: ",").map(String.init),
            backupState: try row["backup_state"], failures: try row["failures"],
            registeredAt: try row["registered_at"], revokedAt: try row["revoked_at"],
            evidenceID: try row["evidence_id"])
    }
}

extension OpenedPersonKeyRegistration {
    /// Reads a row of `load_person`; `nil` when it has no registration.
    init?(_ row: Row) throws(PostgresError) {
        guard let id: ID<PersonKeyRegistration> = try row["registration_id"] else { return nil }
        self.init(
            id: id, label: try row["label"], message: try row["message"],
            createdAt: try row["created_at"], expiresAt: try row["expires_at"],
            isSpent: try row["is_spent"])
    }
}

extension PublishedPolicy {
    /// Reads a row of `list_policies` or `policies_ahead`.
    init(_ row: Row) throws(PostgresError) {
        let document: Bytes = try row["document"]
        guard let content = JSON(recorded: document) else { throw .malformedColumn("document") }
        self.init(
            version: try row["version"], digest: try row["digest"], document: document,
            content: content, activeFrom: try row["active_from"],
            publishedAt: try row["published_at"], isActive: try row["is_active"])
    }
}

extension RecordedAct {
    /// Reads a row of `list_acts`, and those of `list_act_signatures` that are of this act.
    init(_ row: Row, signatures: [(act: ID<Act>, signature: RecordedActSignature)])
        throws(PostgresError)
    {
        let id: ID<Act> = try row["id"]
        let document: Bytes = try row["document"]
        guard let content = JSON(recorded: document) else { throw .malformedColumn("document") }
        self.init(
            id: id, kind: try word("kind", row, ActKind.init(rawValue:)),
            role: try word("role", row, PersonRole.init(rawValue:)), document: document,
            content: content, digest: try row["digest"],
            state: try word("state", row, ActState.init(rawValue:)),
            createdBy: try Person(row, id: "created_by"), createdAt: try row["created_at"],
            expiresAt: try row["expires_at"], closedAt: try row["closed_at"],
            signatures: signatures.filter { $0.act == id }.map(\.signature))
    }
}

extension RecordedActSignature {
    /// Reads a row of `list_act_signatures`.
    init(_ row: Row) throws(PostgresError) {
        self.init(
            person: try Person(row), key: try row["person_key_id"],
            challenge: try row["challenge_id"],
            stage: try word("stage", row, ActStage.init(rawValue:)),
            signature: try row["signature"], signedAt: try row["signed_at"],
            counts: try row["counts"], evidenceID: try row["evidence_id"])
    }
}

extension RecordedActChallenge {
    /// Reads a row of `load_act_challenge`.
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], act: try row["act_id"], person: try row["client_id"],
            stage: try word("stage", row, ActStage.init(rawValue:)), message: try row["message"],
            state: try word("state", row, State.init(rawValue:)),
            createdAt: try row["created_at"], expiresAt: try row["expires_at"])
    }

    /// The row's columns by name.
    var columns: JSON {
        [
            "id": .string(id.text), "client_id": .string(person.text),
            "stage": .string(stage.rawValue), "message": .bytea(message),
            "created_at": .string(createdAt.text), "expires_at": .string(expiresAt.text),
        ]
    }
}

extension HeldAction {
    /// Reads a row of `load_held_action`.
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["action_id"], subject: try row["subject_id"],
            wrappedKey: try row["wrapped"],
            head: ChainHead(length: try row["seq"], leafHash: try row["head"]),
            hold: try ActionColumns.hold(row), againstRelease: try Self.againstRelease(row))
    }

    /// The rule by which a held action is no longer allowed at its release; `nil` when it still is.
    static func againstRelease(_ row: Row) throws(PostgresError) -> String? {
        if let end: String = try row["credential_end"] { return "credential_\(end)" }
        if try row["payee_is_gone"] { return "payee_removed" }
        if let limit: String = try row["limit_lowered"] { return "limit_\(limit)" }
        if try row["assisted_hold_lasts"] { return Hold.Rule.assistedHold.rawValue }
        return nil
    }
}
