/// What a record is in a bundle; the raw value is its name there. The order is that of the bundle.
package enum BundleRole: String, CaseIterable, Sendable {
    /// The enrolment of the key that signed the decision.
    case enrolled
    /// The publication of the policy that decided.
    case policy
    case created
    // Exactly one of these three: the decision.
    case approved
    case rejected
    case refused
    case held
    case released
    case cancelled
    // Core banking's answer.
    case executed
    /// Core banking refused it.
    case notExecuted = "not_executed"
    /// Retries were used up.
    case unknown
    /// Why no record of the customer has a body.
    case erased

    /// The kind of the record.
    package var kind: EvidenceKind {
        switch self {
        case .enrolled: .credentialEnrolled
        case .policy: .policyPublished
        case .created: .actionCreated
        case .approved: .actionApproved
        case .rejected: .actionRejected
        case .refused: .actionRefused
        case .held: .actionHeld
        case .released: .actionReleased
        case .cancelled: .actionCancelled
        case .executed: .orderExecuted
        case .notExecuted: .orderRefused
        case .unknown: .orderUnknown
        case .erased: .subjectErased
        }
    }

    /// The role of a record of that kind; `nil` for kinds that are in no bundle.
    package init?(_ kind: EvidenceKind) {
        guard let role = Self.allCases.first(where: { $0.kind == kind }) else { return nil }
        self = role
    }

    /// Whether it is a decision.
    package var isDecision: Bool { [.approved, .rejected, .refused].contains(self) }

    /// Whether it goes with its customer, when that one is erased. What the service says of itself stays.
    var isOfCustomer: Bool { self != .policy && self != .erased }

    /// Whether its leaf says all that a bundle is asked. Whom an erasure has erased is in the leaf; the body
    /// names the customer's records in acts of officers, which a stranger does not need, and may be long.
    var isLeafAlone: Bool { self == .erased }

    /// Whether it can only follow an approval.
    var followsApproval: Bool {
        [.held, .released, .cancelled, .executed, .notExecuted, .unknown].contains(self)
    }

    /// Whether it was there before the decision.
    var precedesDecision: Bool { [.enrolled, .policy, .created].contains(self) }
}
