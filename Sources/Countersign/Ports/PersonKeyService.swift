/// What the API offers a person about keys; the caller is known to be of a role of ``PersonRole``.
package protocol PersonKeyService: Sendable {
    /// Opens a registration.
    func beginRegistration(
        of person: ID<Client>, label: DisplayText
    ) async throws(StoreFailure) -> PersonKeyOptionsOutcome

    /// Registers a key when its possession is proved. A registration is spent by its first finish, good or
    /// bad; ``keys(of:)`` tells what became of one whose answer was lost.
    func register(
        _ command: RegisterPersonKeyCommand
    ) async throws(StoreFailure) -> PersonKeyOutcome

    /// All keys of the people of a role, revoked ones included, oldest first.
    func keys(of role: PersonRole) async throws(StoreFailure) -> [RecordedPersonKey]

    /// Revokes a key at once and for ever. One that is revoked already stays as it is.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - owner: Whose it must be.
    /// - Returns: The key as it then is; `nil` when the owner has none of that ID.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func revoke(
        _ key: ID<PersonKey>, of owner: ID<Client>
    ) async throws(StoreFailure) -> RecordedPersonKey?
}

/// What registering and revoking the keys of people needs from the database.
package protocol PersonKeyStore: Sendable {
    /// Reads, without locks, all that is looked at.
    ///
    /// - Parameters:
    ///   - person: Who asks.
    ///   - registration: What the request names; only the person's own is found.
    /// - Returns: `nil` for nobody of a role of ``PersonRole``.
    /// - Throws: ``StoreFailure``.
    func load(
        _ person: ID<Client>, registration: ID<PersonKeyRegistration>?
    ) async throws(StoreFailure) -> PersonKeyContext?

    /// Stores a registration unless the person has `openMax` keys and registrations.
    func begin(
        _ registration: OpenedPersonKeyRegistration, userHandle: Bytes, openMax: Int,
        on context: PersonKeyContext
    ) async throws(StoreFailure) -> PersonKeyBeginning

    /// Records a key and spends its registration, if what `context` holds is still so.
    func register(
        _ key: NewPersonKey, on context: PersonKeyContext
    ) async throws(StoreFailure) -> PersonKeyWriting

    /// Spends a registration that failed; `false` for a lost race.
    func spend(
        _ command: RegisterPersonKeyCommand, because code: String, on context: PersonKeyContext
    ) async throws(StoreFailure) -> Bool

    /// All keys of a role.
    func keys(of role: PersonRole) async throws(StoreFailure) -> [RecordedPersonKey]

    /// Revokes a key; `false` for a lost race.
    func revoke(
        _ key: RecordedPersonKey, at: Instant
    ) async throws(StoreFailure) -> Bool

    /// See ``DecisionStore/barrier()``.
    func barrier() async throws(StoreFailure)
}

/// What came of storing a registration.
package enum PersonKeyBeginning: Sendable {
    case begun
    case tooManyOpen
    case lostRace
}

/// What came of recording a key.
package enum PersonKeyWriting: Sendable {
    case registered
    case keyExists
    case lostRace
}
