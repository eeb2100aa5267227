/// A customer's credential as proofs are checked against it and policies look at it, with its key.
package struct RegisteredCredential: Sendable {
    package let id: ID<Credential>
    package let kind: CredentialKind
    package let isActive: Bool
    package let stored: StoredCredential
    /// DER SubjectPublicKeyInfo.
    package let publicKey: Bytes
    package let createdAt: Instant
    /// The profiles of attestation that it met when it was enrolled.
    package let profiles: [AttestationProfile]
    /// Whether it was copied when it was last seen; never so for a device key.
    package let backupState: Bool
    /// Consecutive failures in its life so far.
    package let failures: Int
    /// What ends with it when its next failure is its last; read only then, else nothing.
    package let openQuestions: OpenQuestions
    /// The evidence of its enrolment.
    package let evidenceID: ID<Evidence>

    package init(
        id: ID<Credential>, kind: CredentialKind, isActive: Bool, stored: StoredCredential,
        publicKey: Bytes, createdAt: Instant, profiles: [AttestationProfile] = [],
        backupState: Bool = false, failures: Int = 0, openQuestions: OpenQuestions = .none,
        evidenceID: ID<Evidence>
    ) {
        self.id = id
        self.kind = kind
        self.isActive = isActive
        self.stored = stored
        self.publicKey = publicKey
        self.createdAt = createdAt
        self.profiles = profiles
        self.backupState = backupState
        self.failures = failures
        self.openQuestions = openQuestions
        self.evidenceID = evidenceID
    }

    /// Consecutive failures after which a key is disabled for ever and a new enrolment is needed.
    /// Source: NIST SP 800-63B-4 §3.2.2, standards D-02.
    package static let failuresMax = 100

    /// Whether it may be copied to other devices.
    package var isBackupEligible: Bool {
        switch stored {
        case .deviceKey: false
        case .passkey(let passkey): passkey.backupEligible
        }
    }

    /// How a device key writes its signatures; `nil` for a passkey, whose algorithm says it.
    package var signatureFormat: SignatureFormat? {
        switch stored {
        case .deviceKey(let key): key.signatureFormat
        case .passkey: nil
        }
    }

    /// What may be said about who can use it.
    package var assurance: Assurance { Assurance(kind, meeting: profiles) }

    /// What ends when it fails once more: `nil` unless that failure suspends it.
    package var endingWithOneMoreFailure: OpenQuestions? {
        isActive && failures + 1 >= Self.failuresMax ? openQuestions : nil
    }
}

extension VerifiedAssertion {
    /// Whether the credential is copied to other devices now; a device key never is.
    package var backupState: Bool {
        switch self {
        case .deviceKey: false
        case .passkey(_, _, let state): state
        }
    }
}

extension RegisteredCredential {
    /// What a policy looks at in it.
    package var traits: CredentialTraits {
        CredentialTraits(kind: kind, profiles: profiles, isBackupEligible: isBackupEligible)
    }
}
