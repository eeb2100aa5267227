/// The roles of people who sign acts with keys of their own; the raw value is the role's word.
package enum PersonRole: String, CaseIterable, Sendable {
    case risk, officer
}

extension AuthenticatedClient.Role {
    /// The same role of a person; `nil` for the roles of systems and of those who sign nothing.
    package var person: PersonRole? { PersonRole(rawValue: rawValue) }
}

/// A client of a role whose members sign acts.
package struct Person: Hashable, Sendable {
    package let id: ID<Client>
    /// The client's name, which is in everything that the person signs.
    package let name: String
    package let role: PersonRole

    /// Takes what is recorded of a client.
    package init(id: ID<Client>, name: String, role: PersonRole) {
        self.id = id
        self.name = name
        self.role = role
    }
}

/// A passkey of a person as it is recorded.
package struct RecordedPersonKey: Hashable, Sendable {
    /// Whether it counts; the raw value is the word in the API.
    package enum Status: String, CaseIterable, Sendable {
        /// Registered, and not admitted by two other people yet.
        case pending
        case active
        /// Ended for ever.
        case revoked
    }

    package let id: ID<PersonKey>
    package let person: Person
    /// What the person calls it.
    package let label: String
    package let status: Status
    /// All that an assertion is checked against.
    package let stored: StoredPasskey
    package let transports: [String]
    /// Whether it was copied to other devices when it was last seen.
    package let backupState: Bool
    /// Consecutive failures; with ``RegisteredCredential/failuresMax`` it signs no more.
    package let failures: Int
    package let registeredAt: Instant
    package let revokedAt: Instant?
    /// The evidence of its registration.
    package let evidenceID: ID<Evidence>

    /// Takes what is recorded.
    package init(
        id: ID<PersonKey>, person: Person, label: String, status: Status, stored: StoredPasskey,
        transports: [String], backupState: Bool, failures: Int = 0, registeredAt: Instant,
        revokedAt: Instant? = nil, evidenceID: ID<Evidence>
    ) {
        self.id = id
        self.person = person
        self.label = label
        self.status = status
        self.stored = stored
        self.transports = transports
        self.backupState = backupState
        self.failures = failures
        self.registeredAt = registeredAt
        self.revokedAt = revokedAt
        self.evidenceID = evidenceID
    }

    /// Whether it may sign now.
    package var maySign: Bool {
        status == .active && failures < RegisteredCredential.failuresMax
    }

    /// As options of a client name it.
    package var listed: ListedPasskey {
        ListedPasskey(
            credentialID: stored.credentialID, transports: transports,
            isBackupEligible: stored.backupEligible, profiles: [])
    }

    /// How the API shows it. Source: `docs/api.md`.
    package var json: JSON {
        [
            "id": .string(id.text), "person": .string(person.name),
            "role": .string(person.role.rawValue), "label": .string(label),
            "status": .string(status.rawValue),
            "public_key": .string(Base64.encode(stored.key)),
            "backup_eligible": .bool(stored.backupEligible), "backup_state": .bool(backupState),
            "registered_at": .string(registeredAt.text), "revoked_at": .optional(revokedAt?.text),
        ]
    }
}
