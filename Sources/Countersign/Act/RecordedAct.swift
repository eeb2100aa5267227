/// What an act does when enough people have signed it; the raw value is the word in the API, and the
/// `purpose` of the signed messages.
package enum ActKind: String, CaseIterable, Sendable {
    /// A new version of the policy: two people.
    case publishPolicy = "policy.publish"
    /// A new version that is at least as strict in every member: one person, for emergencies.
    case tightenPolicy = "policy.tighten"
    /// A key of a person counts from now on: two other people.
    case admitKey = "person_key.admit"
    /// The operator may import these payees: two people.
    case importPayees = "payee.import"
    /// The hold of an action ends before its time, and it is executed: two officers.
    case releaseHold = "hold.release"
    /// The hold of an action ends before its time, and it is not executed: two officers.
    case cancelHold = "hold.cancel"
    /// An action is approved for a customer who has no key: two officers.
    case approveAction = "action.approve"

    /// How many people must sign; the database has the same numbers.
    package var signaturesNeeded: Int { self == .tightenPolicy ? 1 : 2 }

    /// Whether it is about one action of a customer, whose it then is.
    package var isAboutAction: Bool {
        switch self {
        case .releaseHold, .cancelHold, .approveAction: true
        case .publishPolicy, .tightenPolicy, .admitKey, .importPayees: false
        }
    }

    /// Whether people of a role may propose it.
    package func isFor(_ role: PersonRole) -> Bool {
        switch self {
        case .admitKey: true
        case .releaseHold, .cancelHold, .approveAction: role == .officer
        case .publishPolicy, .tightenPolicy, .importPayees: role == .risk
        }
    }
}

/// Where an act stands; the raw value is the word in the API.
package enum ActState: String, CaseIterable, Sendable {
    case open
    /// Enough people have signed, and it has taken effect.
    case done
    case withdrawn
    /// Its time was over before enough people had signed.
    case expired
}

/// Which part a person has in an act; the raw value is the word in messages.
package enum ActStage: String, CaseIterable, Sendable {
    /// Of whoever made the act; always the first signature.
    case propose
    /// Of everybody else.
    case approve
}

/// An act as it is recorded.
package struct RecordedAct: Sendable {
    package let id: ID<Act>
    package let kind: ActKind
    package let role: PersonRole
    /// JSON: all that the act says. These bytes are signed, by their digest.
    package let document: Bytes
    /// The same, read.
    package let content: JSON
    package let digest: Digest
    package let state: ActState
    package let createdBy: Person
    package let createdAt: Instant
    package let expiresAt: Instant
    /// When it was done or withdrawn.
    package let closedAt: Instant?
    /// Oldest first; one of a person.
    package let signatures: [RecordedActSignature]

    /// An act is open for so long at most.
    package static let lifetime = Seconds(7 * 86_400)

    /// Takes what is recorded; the state is that of the time when it was read.
    package init(
        id: ID<Act>, kind: ActKind, role: PersonRole, document: Bytes, content: JSON,
        digest: Digest, state: ActState, createdBy: Person, createdAt: Instant, expiresAt: Instant,
        closedAt: Instant? = nil, signatures: [RecordedActSignature] = []
    ) {
        self.id = id
        self.kind = kind
        self.role = role
        self.document = document
        self.content = content
        self.digest = digest
        self.state = state
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.closedAt = closedAt
        self.signatures = signatures
    }

    /// The signature of a person; `nil` when that person has not signed.
    package func signature(of person: ID<Client>) -> RecordedActSignature? {
        signatures.first { $0.person.id == person }
    }

    /// Which part a person has in it.
    package func stage(of person: ID<Client>) -> ActStage {
        person == createdBy.id ? .propose : .approve
    }

    /// Whether one more signature is enough: those by keys that have ended since do not count.
    package var needsOneMore: Bool {
        signatures.count(where: \.counts) + 1 >= kind.signaturesNeeded
    }

    /// Whether its proposer has signed; before, nobody else may.
    package var isProposed: Bool { signatures.contains { $0.stage == .propose } }
}

/// One person's signature of an act.
package struct RecordedActSignature: Sendable {
    package let person: Person
    package let key: ID<PersonKey>
    package let challenge: ID<ActChallenge>
    package let stage: ActStage
    /// As it came, to recognise the same one again.
    package let signature: Bytes
    package let signedAt: Instant
    /// Whether the key and the person are still good.
    package let counts: Bool
    package let evidenceID: ID<Evidence>

    /// Takes what is recorded.
    package init(
        person: Person, key: ID<PersonKey>, challenge: ID<ActChallenge>, stage: ActStage,
        signature: Bytes, signedAt: Instant, counts: Bool, evidenceID: ID<Evidence>
    ) {
        self.person = person
        self.key = key
        self.challenge = challenge
        self.stage = stage
        self.signature = signature
        self.signedAt = signedAt
        self.counts = counts
        self.evidenceID = evidenceID
    }
}

/// A question to one person about one act.
package struct RecordedActChallenge: Hashable, Sendable {
    /// What has become of it.
    package enum State: String, CaseIterable, Sendable {
        case live, superseded, consumed
        /// Answered, and the answer was not believed.
        case failed
    }

    package let id: ID<ActChallenge>
    package let act: ID<Act>
    package let person: ID<Client>
    package let stage: ActStage
    /// The stored bytes whose digest is the challenge.
    package let message: Bytes
    package let state: State
    package let createdAt: Instant
    package let expiresAt: Instant

    /// Takes what is recorded.
    package init(
        id: ID<ActChallenge>, act: ID<Act>, person: ID<Client>, stage: ActStage, message: Bytes,
        state: State, createdAt: Instant, expiresAt: Instant
    ) {
        self.id = id
        self.act = act
        self.person = person
        self.stage = stage
        self.message = message
        self.state = state
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}
