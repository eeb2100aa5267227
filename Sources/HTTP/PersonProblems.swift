package import Countersign

// Refusals to people of the bank, as problems; see DomainProblems.

extension Problem {
    /// What a person is told when no key was registered.
    package init(_ refusal: PersonKeyRefusal) {
        switch refusal {
        case .notFound: self = .notFound
        case .consumed:
            self.init(
                "enrolment-consumed", status: 409, title: "Registration consumed",
                detail: "A registration is spent by its first use; begin again.")
        case .expired:
            self.init("enrolment-expired", status: 410, title: "Registration expired")
        case .tooManyOpen(let retryAfter):
            self = .tooManyRequests(
                "The person has as many keys and registrations as are allowed.", retryAfter)
        case .authenticationFailed: self = .personNotBelieved
        case .attestationRefused:
            self.init(
                "attestation-refused", status: 422, title: "Attestation refused",
                detail: "A key that is attested like this cannot be registered.")
        case .keyExists:
            self.init("credential-exists", status: 409, title: "Key exists")
        }
    }

    /// What a person is told when nothing came of a request about an act.
    ///
    /// - Parameters:
    ///   - refusal: Why.
    ///   - now: This machine's time, from which only `Retry-After` is counted.
    package init(_ refusal: ActRefusal, now: Instant) {
        switch refusal {
        case .notFound: self = .notFound
        case .action(let refusal): self.init(refusal, now: now)
        case .invalid(let member):
            self = .invalidAction([
                Fault(
                    pointer: "/document" + member.pointer, code: member.value.code,
                    detail: member.value.detail)
            ])
        case .tooManyOpen(let retryAfter):
            self = .tooManyRequests(
                "The person has as many open acts as are allowed; withdraw one.", retryAfter)
        case .kindNotAllowed:
            self.init(
                "act-kind-not-allowed", status: 403, title: "Act not allowed",
                detail: "People of this role make no acts of this kind.")
        case .challengeSuperseded:
            self.init(
                "challenge-superseded", status: 409, title: "Challenge superseded",
                detail: "A newer challenge took its place.")
        case .challengeConsumed: self = .challengeConsumed
        case .challengeExpired: self = .challengeExpired
        case .authenticationFailed: self = .personNotBelieved
        case .closed, .alreadySigned, .notProposed, .ownKey, .keyNotPending, .noKey,
            .policyChanged, .tooLate, .tooEarly, .notStricter, .notHeld, .holdChanged,
            .notReleasable, .customerHasKey, .approvalChanged:
            self = .conflict(refusal)
        }
    }

    /// What stands against an act.
    private static func conflict(_ refusal: ActRefusal) -> Problem {
        switch refusal {
        case .closed(let state):
            conflict(
                "act-closed", "Act closed", "Nobody can sign it any more.",
                [.init("state", .string(state.rawValue))])
        case .alreadySigned:
            conflict(
                "act-already-signed", "Already signed",
                "A person signs an act once, whatever key.")
        case .notProposed:
            conflict(
                "act-not-proposed", "Not proposed", "Whoever made the act signs it first.")
        case .ownKey:
            conflict("act-own-key", "Own key", "Nobody helps to admit a key of their own.")
        case .keyNotPending:
            conflict("act-key-not-pending", "Key not pending", "This key waits for nobody.")
        case .noKey:
            conflict("act-no-key", "No key", "The person has no key that may sign.")
        case .policyChanged(let newest):
            conflict(
                "policy-changed", "Policy changed",
                "Another version was published since; propose against that one.",
                [.init("newest", .integer(Int64(newest)))])
        case .tooLate:
            conflict("policy-too-late", "Too late", "The stated time has passed.")
        case .tooEarly(let notBefore):
            conflict(
                "policy-too-early", "Too early",
                "A version that waits for its time would never come into force.",
                [.init("not_before", .string(notBefore.text))])
        case .notHeld:
            conflict("hold-not-held", "Not held", "The action is not held, or not any more.")
        case .holdChanged:
            conflict(
                "hold-changed", "Hold changed",
                "The action is another than when the act was proposed; propose anew.")
        case .notReleasable(let rule):
            conflict(
                "hold-not-releasable", "Not releasable",
                "At its release the action would be cancelled.",
                [.init("rule", .string(rule))])
        case .customerHasKey:
            conflict(
                "customer-has-key", "Customer has a key",
                "The customer has an active key, and decides alone; revoke it if it is lost.")
        case .approvalChanged:
            conflict(
                "approval-changed", "Approval changed",
                "The action, or the hold that the policy demands, is another than was proposed.")
        default:
            conflict(
                "policy-not-stricter", "Not stricter",
                "One person may only publish what is at least as strict in every member.")
        }
    }

    private static func conflict(
        _ slug: String, _ title: String, _ detail: String, _ members: [JSON.Member] = []
    ) -> Problem {
        Problem(slug, status: 409, title: title, detail: detail, members: members)
    }

    /// As for customers, the reason is in evidence only.
    private static let personNotBelieved = Problem(
        "authentication-failed", status: 401, title: "Authentication failed",
        detail: "The person's proof was not accepted.",
        headers: ["WWW-Authenticate": "Person-Assertion"])
}
