/// What making an act looks at.
package struct ProposalContext: Sendable {
    /// The database's time.
    package let at: Instant
    /// Who asks.
    package let person: Person
    /// The keys of everybody of the role.
    package let keys: [RecordedPersonKey]
    /// The policy in force and every version after it, oldest first; the last is the newest.
    package let policies: [PublishedPolicy]

    /// Takes what was read.
    package init(
        at: Instant, person: Person, keys: [RecordedPersonKey], policies: [PublishedPolicy]
    ) {
        self.at = at
        self.person = person
        self.keys = keys
        self.policies = policies
    }

    /// The keys with which the person may sign now.
    package var signingKeys: [RecordedPersonKey] {
        keys.filter { $0.person.id == person.id && $0.maySign }
    }
}

/// What a request about one act looks at.
package struct ActContext: Sendable {
    package let base: ProposalContext
    package let act: RecordedAct
    /// The challenge that the request names; `nil` when it names none, or none of this act and person.
    package let challenge: RecordedActChallenge?
    /// The action of an act about a hold, not read later than the act; `nil` for every other act.
    package let held: HeldAction?
    /// The action of an act that approves one, not read later than the act; `nil` for every other act.
    package let assisted: AssistedAction?

    /// Takes what was read.
    package init(
        base: ProposalContext, act: RecordedAct, challenge: RecordedActChallenge?,
        held: HeldAction? = nil, assisted: AssistedAction? = nil
    ) {
        self.base = base
        self.act = act
        self.challenge = challenge
        self.held = held
        self.assisted = assisted
    }
}

/// A person's answer to a question about an act.
package struct SignActCommand: Sendable {
    package let person: ID<Client>
    package let act: ID<Act>
    package let challenge: ID<ActChallenge>
    package let assertion: PasskeyAssertion

    /// Takes the answer as it came.
    package init(
        person: ID<Client>, act: ID<Act>, challenge: ID<ActChallenge>, assertion: PasskeyAssertion
    ) {
        self.person = person
        self.act = act
        self.challenge = challenge
        self.assertion = assertion
    }
}

/// What a person wants to have signed.
package struct ProposeActCommand: Sendable {
    package let person: ID<Client>
    package let kind: ActKind
    /// As it was sent.
    package let document: JSON

    /// The action that it says it is about; `nil` when it is about none, or names none.
    package var action: ID<Action>? {
        kind.isAboutAction ? document["action_id"]?.text.flatMap { ID<Action>($0) } : nil
    }

    /// Takes what was sent.
    package init(person: ID<Client>, kind: ActKind, document: JSON) {
        self.person = person
        self.kind = kind
        self.document = document
    }
}

/// A signature that was verified, and what takes effect with it.
package struct NewActSignature: Sendable {
    package let command: SignActCommand
    package let challenge: RecordedActChallenge
    package let key: RecordedPersonKey
    /// What the assertion told.
    package let signCount: UInt32
    package let backupState: Bool
    package let effect: ActEffect

    /// Takes what was verified.
    package init(
        command: SignActCommand, challenge: RecordedActChallenge, key: RecordedPersonKey,
        signCount: UInt32, backupState: Bool, effect: ActEffect
    ) {
        self.command = command
        self.challenge = challenge
        self.key = key
        self.signCount = signCount
        self.backupState = backupState
        self.effect = effect
    }
}

/// What a signature brings about.
package enum ActEffect: Sendable {
    /// Nothing yet: more people have to sign.
    case none
    /// A new version of the policy.
    case publish(PolicyPublication)
    /// A key counts from now on.
    case admit(RecordedPersonKey)
    /// A hold ends before its time.
    case endHold(HoldEnding)
    /// The operator may import payees.
    case allowImport
    /// An action is approved.
    case approve(AssistedRuling)
}

/// What an act is made of.
struct ActDraft {
    /// What is signed.
    let document: JSON
    /// When the act is over at the latest; `nil` when nothing but its own lifetime ends it.
    var expiresAt: Instant?
}

/// A version of the policy that is about to be published.
package struct PolicyPublication: Sendable {
    package let version: Int
    package let activeFrom: Instant
    package let proposal: PolicyProposal
    /// Versions that were waiting for their time and never come into force.
    package let overtaken: [Int]

    /// The bytes that are stored: those that stand in the signed document.
    package var document: Bytes { proposal.policy.encoded }
}

/// Why nothing came of a request about an act, in the order in which it is looked at.
package enum ActRefusal: Error, Equatable, Sendable {
    case notFound
    /// People of this role do not make acts of this kind.
    case kindNotAllowed
    case invalid(InvalidActMember)
    /// The person has as many open acts as are allowed.
    case tooManyOpen(retryAfter: Seconds)
    /// It is done, withdrawn or expired.
    case closed(ActState)
    /// The person has signed it already.
    case alreadySigned
    /// Its proposer has not signed it yet.
    case notProposed
    /// It would admit a key of the person who signs.
    case ownKey
    /// The key that it would admit is not pending any more.
    case keyNotPending
    /// The person has no key that may sign.
    case noKey
    case challengeSuperseded
    case challengeConsumed
    case challengeExpired
    case authenticationFailed
    /// Another version was published since; its number.
    case policyChanged(newest: Int)
    /// The stated time has passed.
    case tooLate
    /// Another version takes effect later than this one would.
    case tooEarly(notBefore: Instant)
    /// One person may only publish what is at least as strict in every member.
    case notStricter
    /// The action is not held, or not any more.
    case notHeld
    /// The action is held otherwise than when the act was proposed.
    case holdChanged
    /// The action could not be released now, when its hold would end; the rule.
    case notReleasable(rule: String)
    /// The action cannot be approved, or not any more.
    case action(DecisionRefusal)
    /// The customer has a key, and so decides alone.
    case customerHasKey
    /// The action, or the hold that the policy demands, is another than when the act was proposed.
    case approvalChanged
}

extension ActRefusal {
    /// The word in evidence of what tells of a customer, a policy or a rule, or of somebody who wanted to do
    /// alone what needs two; `nil` for what leaves no evidence, since it says only what everybody of the role
    /// can read anyway.
    package var recordedWord: String? {
        switch self {
        case .action(.policy(let refusal)): refusal.word
        case .customerHasKey: "customer_has_key"
        case .approvalChanged: "approval_changed"
        case .holdChanged: "hold_changed"
        case .notReleasable: "hold_not_releasable"
        // What nobody has any business trying.
        case .notStricter: "policy_not_stricter"
        case .ownKey: "own_key"
        default: nil
        }
    }
}

/// What came of making an act, or of asking to sign one.
package enum ActQuestionOutcome: Sendable {
    case asked(RecordedAct, challenge: JSON)
    case refused(ActRefusal)
}

/// What came of signing or withdrawing an act.
package enum ActOutcome: Sendable {
    case recorded(RecordedAct)
    case refused(ActRefusal)
}
