/// What the API offers a person about acts; the caller is known to be of a role of ``PersonRole``.
package protocol ActService: Sendable {
    /// Stores an act and asks its proposer to sign it. Nothing takes effect, and nobody else can sign,
    /// before the proposer has.
    func propose(_ command: ProposeActCommand) async throws(StoreFailure) -> ActQuestionOutcome

    /// Asks a person to sign; an earlier question to the same person about the same act is dead.
    func challenge(
        _ act: ID<Act>, for person: ID<Client>
    ) async throws(StoreFailure) -> ActQuestionOutcome

    /// Records a signature, and with the last one that is needed the act takes effect.
    ///
    /// - Throws: ``StoreFailure/outcomeUnknown`` when the answer to the commit was lost; sending the same
    ///   signature again tells.
    func sign(_ command: SignActCommand) async throws(StoreFailure) -> ActOutcome

    /// Ends an open act; anybody of its role may. One that is withdrawn already stays as it is.
    func withdraw(
        _ act: ID<Act>, by person: ID<Client>, reason: DisplayText
    ) async throws(StoreFailure) -> ActOutcome

    /// One act of a role; `nil` when there is none.
    func act(_ id: ID<Act>, of role: PersonRole) async throws(StoreFailure) -> RecordedAct?

    /// The acts of a role, newest first.
    func acts(_ query: ActQuery) async throws(StoreFailure) -> [RecordedAct]
}

/// Which acts somebody wants to see.
package struct ActQuery: Sendable {
    package let role: PersonRole
    /// `nil` for all.
    package let state: ActState?
    /// At most so many.
    package let limit: Int
    /// Older than this one; `nil` for the newest.
    package let before: ID<Act>?

    /// Takes what was asked.
    package init(role: PersonRole, state: ActState?, limit: Int, before: ID<Act>?) {
        self.role = role
        self.state = state
        self.limit = limit
        self.before = before
    }
}

/// What acts need from the database.
package protocol ActStore: Sendable {
    /// Reads what making an act looks at; `nil` for nobody of a role of ``PersonRole``.
    func load(_ person: ID<Client>) async throws(StoreFailure) -> ProposalContext?

    /// Reads what signing an act looks at; `nil` when the person's role has no such act.
    func load(
        _ act: ID<Act>, for person: ID<Client>, challenge: ID<ActChallenge>?
    ) async throws(StoreFailure) -> ActContext?

    /// Whether the database has a time zone of that name: days could not be counted in another.
    func knowsTimeZone(_ name: String) async throws(StoreFailure) -> Bool

    /// Reads an action whose hold an act wants to end; `nil` when there is none of that ID.
    func heldAction(_ id: ID<Action>) async throws(StoreFailure) -> HeldAction?

    /// Reads an action that an act wants to approve; `nil` when there is none of that ID.
    func assistedAction(_ id: ID<Action>) async throws(StoreFailure) -> AssistedAction?

    /// Stores an act with the question to its proposer, unless that person has `openMax` open ones.
    func create(
        _ act: RecordedAct, _ challenge: RecordedActChallenge, openMax: Int
    ) async throws(StoreFailure) -> ActCreation

    /// Stores a question; `false` for a lost race.
    func ask(_ challenge: RecordedActChallenge) async throws(StoreFailure) -> Bool

    /// Records an answer that was not believed, and spends its question; `false` for a lost race.
    func fail(
        _ command: SignActCommand, because failure: VerificationFailure, key: RecordedPersonKey?,
        on context: ActContext
    ) async throws(StoreFailure) -> Bool

    /// Records a signature with its effect, in one transaction that compares all that `context` holds;
    /// `false` for a lost race.
    func sign(
        _ signature: NewActSignature, on context: ActContext
    ) async throws(StoreFailure) -> Bool

    /// Records that the last signature of an act was refused, with the signature, and spends its question;
    /// the act stays open. `false` for a lost race.
    func refuse(
        _ signature: NewActSignature, because refusal: ActRefusal, on context: ActContext
    ) async throws(StoreFailure) -> Bool

    /// Records that an act was refused when it was proposed; `false` for somebody who is of no role of
    /// ``PersonRole`` any more.
    func refuse(
        _ command: ProposeActCommand, because refusal: ActRefusal, on context: ProposalContext
    ) async throws(StoreFailure) -> Bool

    /// Records that an action is stored otherwise than it was asked or signed; `false` for a lost race.
    ///
    /// - Parameters:
    ///   - found: The action as it was found.
    ///   - document: What officers were shown of it; `nil` before an act is made.
    /// - Returns: Whether it is on record.
    /// - Throws: ``StoreFailure``.
    func recordTampering(
        _ found: AssistedAction, contradicting document: Bytes?
    ) async throws(StoreFailure) -> Bool

    /// Ends an act; `false` for a lost race.
    func withdraw(
        _ context: ActContext, reason: DisplayText
    ) async throws(StoreFailure) -> Bool

    /// See ``ActService/act(_:of:)``.
    func act(_ id: ID<Act>, of role: PersonRole) async throws(StoreFailure) -> RecordedAct?

    /// See ``ActService/acts(_:)``.
    func acts(_ query: ActQuery) async throws(StoreFailure) -> [RecordedAct]

    /// See ``DecisionStore/barrier()``.
    func barrier() async throws(StoreFailure)
}

/// What came of storing an act.
package enum ActCreation: Sendable {
    case created
    case tooManyOpen
    case lostRace
}
