/// A draft that is evaluated beside the policy in force, on the decisions as they come, without
/// effect.
package struct PolicyShadow: Sendable {
    /// How long one may last at most. The database holds the same bound.
    package static let lengthMax = Seconds(30 * 86_400)
    /// How many there may be at one time. The database holds the same bound.
    package static let activeMax = 3
    /// The changed decisions that an answer lists.
    package static let changesMax = 1000

    package let id: ID<Shadow>
    /// What the person calls it.
    package let label: String
    /// SHA-256 of the draft in the form in which it is kept.
    package let digest: Digest
    package let startedBy: Person
    /// Decisions from this time on are evaluated.
    package let startedAt: Instant
    package let until: Instant
    /// Who ended it early, and when; `nil` when nobody did.
    package let end: (by: Person, at: Instant)?
    /// Every decision of before this time has its verdict.
    package let doneUntil: Instant
    /// Since when its verdicts are forgotten, for their age; `nil` while they are all there.
    package let forgottenAt: Instant?

    package init(
        id: ID<Shadow>, label: String, digest: Digest, startedBy: Person, startedAt: Instant,
        until: Instant, end: (by: Person, at: Instant)? = nil, doneUntil: Instant,
        forgottenAt: Instant? = nil
    ) {
        self.id = id
        self.label = label
        self.digest = digest
        self.startedBy = startedBy
        self.startedAt = startedAt
        self.until = until
        self.end = end
        self.doneUntil = doneUntil
        self.forgottenAt = forgottenAt
    }

    /// The end of the decisions that it is for.
    package var endsAt: Instant { min(end?.at ?? until, until) }

    /// Whether it takes new decisions at that time.
    package func isActive(at now: Instant) -> Bool { now < endsAt }

    /// Whether every decision that it is for has its verdict, and none of them is forgotten.
    package var isComplete: Bool { doneUntil >= endsAt && forgottenAt == nil }

    /// How the API shows it. Source: `docs/api.md`.
    package func json(at now: Instant) -> JSON {
        [
            "id": .string(id.text), "label": .string(label),
            "state": isActive(at: now) ? "active" : "ended",
            "policy_digest": .string(digest.hex), "started_by": .string(startedBy.name),
            "started_at": .string(startedAt.text), "until": .string(until.text),
            "ended_by": .optional(end?.by.name), "ended_at": .optional(end?.at.text),
            "done_until": .string(min(max(doneUntil, startedAt), endsAt).text),
            "forgotten_at": .optional(forgottenAt?.text),
        ]
    }
}

/// What a shadow has found so far.
package struct ShadowReport: Sendable {
    package let shadow: PolicyShadow
    package let comparison: PolicyComparison

    package init(shadow: PolicyShadow, comparison: PolicyComparison) {
        self.shadow = shadow
        self.comparison = comparison
    }

    /// In the form of a dry run's.
    package var json: JSON { comparison.report(isComplete: shadow.isComplete) }
}

/// A request to begin one.
package struct StartShadowCommand: Sendable {
    package let person: ID<Client>
    package let label: DisplayText
    /// Read already: it is valid.
    package let document: JSON
    package let until: Instant

    package init(person: ID<Client>, label: DisplayText, document: JSON, until: Instant) {
        self.person = person
        self.label = label
        self.document = document
        self.until = until
    }
}

/// What came of ``StartShadowCommand``.
package enum StartShadowOutcome: Sendable {
    case started(PolicyShadow, at: Instant)
    /// The stated end is over, or further away than ``PolicyShadow/lengthMax``.
    case untilOutOfRange
    case tooManyActive
    /// The person may not act any more.
    case notFound
}
