/// A customer's credential as it is listed: what was recorded of it, and where it stands, without its key.
package struct RecordedCredential: Sendable {
    /// Whether it may sign; the raw value is its word in the API.
    package enum Status: String, CaseIterable, Sendable {
        case active
        /// Disabled for ever by its failures; see ``RegisteredCredential/failuresMax``.
        case suspended
        /// Dead for ever.
        case revoked
    }

    package let id: ID<Credential>
    package let customerID: CustomerID
    package let kind: CredentialKind
    package let status: Status
    /// What the customer calls it; empty when there is no name.
    package let label: String
    package let createdAt: Instant
    /// When the last of its cooling-off periods ends; `nil` when none is left.
    package let usableAt: Instant?
    package let revokedAt: Instant?
    /// What was made of the attestation; its statement only while the key is being enrolled.
    package let attestation: Attestation
    /// How a device key writes its signatures; `nil` for a passkey, whose algorithm says it.
    package let signatureFormat: SignatureFormat?
    /// Whether it may be copied to other devices; never for a device key.
    package let backupEligible: Bool
    /// Whether it was copied when it was last seen.
    package let backupState: Bool
    /// What may be said about who can use it.
    package var assurance: Assurance { Assurance(kind, meeting: attestation.profiles) }

    package init(
        id: ID<Credential>, customerID: CustomerID, kind: CredentialKind, status: Status,
        label: String, createdAt: Instant, usableAt: Instant?, revokedAt: Instant?,
        attestation: Attestation, signatureFormat: SignatureFormat?, backupEligible: Bool,
        backupState: Bool
    ) {
        self.id = id
        self.customerID = customerID
        self.kind = kind
        self.status = status
        self.label = label
        self.createdAt = createdAt
        self.usableAt = usableAt
        self.revokedAt = revokedAt
        self.attestation = attestation
        self.signatureFormat = signatureFormat
        self.backupEligible = backupEligible
        self.backupState = backupState
    }

    /// The same credential, dead from then on.
    package func revoked(at instant: Instant) -> RecordedCredential {
        RecordedCredential(
            id: id, customerID: customerID, kind: kind, status: .revoked, label: label,
            createdAt: createdAt, usableAt: usableAt, revokedAt: instant, attestation: attestation,
            signatureFormat: signatureFormat, backupEligible: backupEligible,
            backupState: backupState)
    }
}
