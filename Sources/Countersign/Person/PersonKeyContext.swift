/// What registering a key of a person looks at.
package struct PersonKeyContext: Sendable {
    /// The database's time.
    package let at: Instant
    package let person: Person
    /// The handle of all of the person's keys; `nil` for somebody who never asked for one.
    package let userHandle: Bytes?
    /// Whether the role is being founded, and the person is not one of its founders yet.
    package let isFounding: Bool
    /// The keys of everybody of the role, oldest first.
    package let keys: [RecordedPersonKey]
    /// The registration that the request names; `nil` when it names none or there is none of it.
    package let registration: OpenedPersonKeyRegistration?

    /// Takes what was read.
    package init(
        at: Instant, person: Person, userHandle: Bytes?, isFounding: Bool,
        keys: [RecordedPersonKey], registration: OpenedPersonKeyRegistration?
    ) {
        self.at = at
        self.person = person
        self.userHandle = userHandle
        self.isFounding = isFounding
        self.keys = keys
        self.registration = registration
    }

    /// The person's keys that have not ended.
    package var ownKeys: [RecordedPersonKey] {
        keys.filter { $0.person.id == person.id && $0.status != .revoked }
    }

    /// What a new key of the person is now. The first two people of a role are admitted at once: there is
    /// nobody yet who could admit them. Who is one of them only the database tells, once and for ever.
    package var statusOfNewKey: RecordedPersonKey.Status { isFounding ? .active : .pending }
}

/// A registration that was begun.
package struct OpenedPersonKeyRegistration: Hashable, Sendable {
    package let id: ID<PersonKeyRegistration>
    package let label: String
    /// The stored bytes whose digest is the challenge.
    package let message: Bytes
    package let createdAt: Instant
    package let expiresAt: Instant
    package let isSpent: Bool

    /// Takes what is recorded.
    package init(
        id: ID<PersonKeyRegistration>, label: String, message: Bytes, createdAt: Instant,
        expiresAt: Instant, isSpent: Bool
    ) {
        self.id = id
        self.label = label
        self.message = message
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.isSpent = isSpent
    }
}

/// What a person answers to creation options.
package struct RegisterPersonKeyCommand: Sendable {
    package let person: ID<Client>
    package let registration: ID<PersonKeyRegistration>
    package let offered: PasskeyRegistration

    /// Takes the answer as it came.
    package init(
        person: ID<Client>, registration: ID<PersonKeyRegistration>, offered: PasskeyRegistration
    ) {
        self.person = person
        self.registration = registration
        self.offered = offered
    }
}

/// A key that was verified, ready to be recorded.
package struct NewPersonKey: Sendable {
    package let id: ID<PersonKey>
    package let status: RecordedPersonKey.Status
    package let command: RegisterPersonKeyCommand
    package let registration: VerifiedRegistration
    package let passkey: VerifiedRegistration.Passkey

    /// Takes what was verified.
    package init(
        id: ID<PersonKey>, status: RecordedPersonKey.Status, command: RegisterPersonKeyCommand,
        registration: VerifiedRegistration, passkey: VerifiedRegistration.Passkey
    ) {
        self.id = id
        self.status = status
        self.command = command
        self.registration = registration
        self.passkey = passkey
    }
}

/// Why no key of a person was registered, in the order in which it is looked at.
package enum PersonKeyRefusal: Error, Equatable, Sendable {
    case notFound
    case consumed
    case expired
    /// The person has as many keys and open registrations as are allowed.
    case tooManyOpen(retryAfter: Seconds)
    case authenticationFailed
    case attestationRefused
    case keyExists
}

/// What came of asking for creation options.
package enum PersonKeyOptionsOutcome: Sendable {
    /// The answer's document.
    case begun(JSON)
    case refused(PersonKeyRefusal)
}

/// What came of registering a key.
package enum PersonKeyOutcome: Sendable {
    case registered(RecordedPersonKey)
    case refused(PersonKeyRefusal)
}
