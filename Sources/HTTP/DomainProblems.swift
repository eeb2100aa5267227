package import Countersign

// The one place where refusals and failures of the domain become problems. Every switch names every
// case, so that a new reason to say no does not compile before it has a status and a slug here.

extension Problem {
    /// What a caller is told when nothing was decided.
    ///
    /// - Parameters:
    ///   - refusal: Why.
    ///   - now: This machine's time, from which only `Retry-After` is counted.
    package init(_ refusal: DecisionRefusal, now: Instant) {
        switch refusal {
        case .notFound: self = .notFound
        case .alreadyDecided(let authorization):
            self.init(
                "already-decided", status: 409, title: "Already decided",
                detail: "This action has its one decision.",
                members: [.init("authorization", .string(authorization.rawValue))])
        case .actionExpired:
            self.init("action-expired", status: 410, title: "Action expired")
        case .actionCancelled:
            self.init("action-cancelled", status: 409, title: "Action cancelled")
        case .challengeSuperseded:
            self.init(
                "challenge-superseded", status: 409, title: "Challenge superseded",
                detail: "A newer challenge of this action took its place.")
        case .challengeConsumed: self = .challengeConsumed
        case .challengeExpired: self = .challengeExpired
        case .customerLocked(let until): self = .customerLocked(until: until, now: now)
        case .attemptsExhausted:
            self.init(
                "attempts-exhausted", status: 403, title: "Attempts exhausted",
                detail: "This challenge or this action takes no further attempt.")
        case .authenticationFailed: self = .authenticationFailed
        case .policy(let refusal): self.init(refusal)
        }
    }

    /// What a caller is told when the proof was good and the policy says no.
    package init(_ refusal: PolicyRefusal) {
        switch refusal {
        case .credentialNotAllowed(let demand):
            self.init(
                "credential-not-allowed", status: 403, title: "Credential not allowed",
                detail: "The policy asks for another credential; the members say what would do.",
                members: [
                    .init("allowed", .array(demand.kinds.map { .string($0.rawValue) })),
                    .init("profiles", .array(demand.profiles.map { .string($0.rawValue) })),
                    .init("backup_eligible", .bool(demand.backupEligible)),
                ])
        case .riskRefused(let rule):
            self.init(
                "risk-refused", status: 403, title: "Refused because of risk",
                detail: "The policy refuses this because of what the bank said about the risk.",
                members: [.init("rule", .string(rule))])
        case .assistedNotAllowed:
            self.init(
                "assisted-not-allowed", status: 403, title: "Not for officers",
                detail: "The policy lets officers approve nothing of this kind for a customer.")
        case .payeeUnknown:
            self.init(
                "payee-unknown", status: 409, title: "Payee unknown",
                detail: "The account is not one of this customer's payees.")
        case .payeeNotUsable(let usableAt):
            self.init(
                "payee-not-usable", status: 409, title: "Payee not usable yet",
                members: [.init("usable_at", .string(usableAt.text))])
        case .currencyNotAllowed(let currency):
            self = .limitExceeded(
                "currency_not_allowed", allowed: Money(minorUnits: 0, currency: currency),
                window: nil)
        case .limitExceeded(let limit, let allowed, let window):
            self = .limitExceeded(limit.rawValue, allowed: allowed, window: window)
        case .countExceeded(let limit, let max, let window):
            self.init(
                "limit-exceeded", status: 409, title: "Limit exceeded",
                members: [
                    .init("limit", .string(limit.rawValue)), .init("max", .integer(Int64(max))),
                    .init("window", .string(window)),
                ])
        }
    }

    /// What a caller is told of a policy document that is refused.
    ///
    /// - Parameters:
    ///   - fault: What is wrong, and where in the document.
    ///   - pointer: Where in the body the document stands.
    package init(_ fault: PolicyFault, in pointer: String) {
        self = .invalidAction([
            Fault(pointer: pointer + fault.pointer, code: fault.code, detail: fault.detail)
        ])
    }

    /// What a caller is told when no action was created.
    package init(_ refusal: CreationRefusal) {
        switch refusal {
        case .idempotencyKeyReused:
            self.init(
                "idempotency-key-reuse", status: 422, title: "Idempotency key reused",
                detail: "This key was used for another command.")
        case .idempotencyInFlight:
            self.init(
                "idempotency-in-flight", status: 409, title: "Request in flight",
                detail: "Another request with this key has not finished yet.",
                headers: ["Retry-After": "1"])
        case .externalIDExists:
            self = .invalidAction([
                Fault(
                    pointer: "/external_id", code: "external_id_exists",
                    detail: "This client has an action of this external ID.")
            ])
        case .tooManyOpenChallenges(let retryAfter):
            self = .tooManyRequests(
                "The customer has as many open challenges as the policy allows.", retryAfter)
        }
    }

    /// What a caller is told when no credential was enrolled.
    ///
    /// - Parameters:
    ///   - refusal: Why.
    ///   - keyPointer: Where in the body the offered public key stands.
    ///   - now: This machine's time, from which only `Retry-After` is counted.
    package init(_ refusal: EnrolmentRefusal, keyPointer: String, now: Instant) {
        switch refusal {
        case .notFound: self = .notFound
        case .consumed:
            self.init(
                "enrolment-consumed", status: 409, title: "Enrolment consumed",
                detail: "An enrolment ID is spent by its first use; begin again.")
        case .expired:
            self.init("enrolment-expired", status: 410, title: "Enrolment expired")
        case .tooManyOpen(let retryAfter):
            self = .tooManyRequests(
                "The customer has as many open enrolments as are allowed.", retryAfter)
        case .customerLocked(let until): self = .customerLocked(until: until, now: now)
        case .invalidKey(let value):
            self = .invalidAction([
                Fault(pointer: keyPointer, code: value.code, detail: value.detail)
            ])
        case .authenticationFailed: self = .authenticationFailed
        case .notAuthorized:
            self.init(
                "enrolment-not-authorized", status: 403, title: "Enrolment not authorised",
                detail: "A token of the identity system or an active credential must vouch for it.")
        case .attestationRefused:
            self.init(
                "attestation-refused", status: 422, title: "Attestation refused",
                detail: "A key that is attested like this cannot be enrolled.")
        case .credentialExists:
            self.init("credential-exists", status: 409, title: "Credential exists")
        }
    }

    /// What a caller is told when a customer was not recovered.
    package init(_ refusal: RecoveryRefusal) {
        switch refusal {
        case .notFound: self = .notFound
        case .notAuthorized:
            self.init(
                "recovery-not-authorized", status: 403, title: "Recovery not authorised",
                detail: "A token of the identity system for this recovery is needed.")
        }
    }

    /// What a caller is told when the database could not do it. Nothing internal is in it.
    package init(_ failure: StoreFailure) {
        switch failure {
        case .unavailable:
            self.init(
                "unavailable", status: 503, title: "Unavailable",
                detail: "Nothing was changed. Send the same request again.",
                headers: ["Retry-After": "1"])
        case .outcomeUnknown:
            self.init(
                "outcome-unknown", status: 503, title: "Outcome unknown",
                detail: "It may have taken effect. Send the same request again to learn it.",
                headers: ["Retry-After": "1"])
        case .internalFailure:
            self.init("internal-error", status: 500, title: "Internal error")
        }
    }

    /// What a caller is told about a body that was not taken.
    package init(_ refusal: BodyRefusal) {
        switch refusal {
        case .malformed(let malformed): self.init(malformed)
        case .invalid(let members):
            self = .invalidAction(
                members.map {
                    Fault(pointer: $0.pointer.text, code: $0.code, detail: $0.detail)
                })
        }
    }

    /// What a caller is told about a body that is not JSON, or not of the shape that is asked for.
    package init(_ malformed: MalformedJSON) {
        self = .malformedRequest(
            malformed.detail,
            errors: [
                Fault(
                    pointer: malformed.pointer.text, code: "malformed", detail: malformed.detail)
            ])
    }
}

// MARK: - The caller

extension Problem {
    /// 401: no key or certificate, or none that is known.
    static let unauthenticated = Problem(
        "unauthenticated", status: 401, title: "Unauthenticated",
        headers: ["WWW-Authenticate": "Bearer"])

    /// 403: the caller is known, and its role is another.
    static let forbidden = Problem(
        "forbidden", status: 403, title: "Forbidden", detail: "This needs another role.")

    /// 400: actions are created only under a key.
    static let idempotencyKeyRequired = Problem(
        "idempotency-key-required", status: 400, title: "Idempotency key required",
        detail: "Send an Idempotency-Key, and the same one when you send this again.")

    /// 503: a part of the service is not fit; `checks` says which.
    static func notReady(_ checks: [ReadinessCheck]) -> Problem {
        Problem(
            "unavailable", status: 503, title: "Not ready",
            members: [.init("checks", ReadinessCheck.json(checks))],
            headers: ["Retry-After": "1"])
    }
}

// MARK: - Core banking

extension Problem {
    /// 409: this installation sends its orders, or keeps them.
    static let notPulled = Problem(
        "not-pulled", status: 409, title: "Not for fetching",
        detail: "The operator has not set orders to be fetched.")

    /// 409: nothing was recorded; the order comes again, with another lease.
    static let leaseLost = Problem(
        "lease-lost", status: 409, title: "Lease lost",
        detail: "This lease does not hold any more; lease again, and answer as before.")

    /// 409: another receipt of the order is recorded, and stays.
    static func receiptContradicts(_ recorded: RecordedReceipt) -> Problem {
        Problem(
            "receipt-contradicts", status: 409, title: "Receipt contradicts",
            detail: "Another receipt is recorded and stays. People must look into this.",
            members: [.init("recorded", .string(recorded.receipt.status.rawValue))])
    }
}

// MARK: - What several refusals share

extension Problem {
    static func invalidAction(_ errors: [Fault]) -> Problem {
        Problem(
            "invalid-action", status: 422, title: "Invalid value",
            detail: "A value is not acceptable; errors says which.", errors: errors)
    }

    /// One problem for everything that can be wrong with a proof (RTS Art. 4(3)(a)).
    ///
    /// RFC 9110 §15.5.2 wants a `WWW-Authenticate`. It must not be `Bearer`: a client that answers
    /// by sending the request again would use up the customer's attempts.
    private static let authenticationFailed = Problem(
        "authentication-failed", status: 401, title: "Authentication failed",
        detail: "The customer's proof was not accepted.",
        headers: ["WWW-Authenticate": "Customer-Assertion"])

    private static func customerLocked(until: Instant, now: Instant) -> Problem {
        Problem(
            "customer-locked", status: 423, title: "Customer locked",
            members: [.init("until", .string(until.text))],
            headers: ["Retry-After": String(seconds(from: now, to: until))])
    }

    static func tooManyRequests(_ detail: String, _ retryAfter: Seconds) -> Problem {
        Problem(
            "too-many-requests", status: 429, title: "Too many requests", detail: detail,
            headers: ["Retry-After": String(max(1, retryAfter.count))])
    }

    /// One question of a customer or of a person was answered before.
    static let challengeConsumed = Problem(
        "challenge-consumed", status: 409, title: "Challenge consumed",
        detail: "This challenge was answered before; ask for another one.")

    /// The time to answer it is over.
    static let challengeExpired = Problem(
        "challenge-expired", status: 410, title: "Challenge expired",
        detail: "Ask for another challenge.")

    private static func limitExceeded(
        _ limit: String, allowed: Money, window: String?
    ) -> Problem {
        Problem(
            "limit-exceeded", status: 409, title: "Limit exceeded",
            members: [
                .init("limit", .string(limit)),
                .init("allowed", .string(allowed.decimal)),
                .init("currency", .string(allowed.currency.code)),
                .init("window", .optional(window)),
            ])
    }

    /// What is told of a bundle that would prove nothing; see ``BundleOutcome/detached(kind:)``.
    static func evidenceDetached(_ kind: String?) -> Problem {
        Problem(
            "evidence-detached", status: 410, title: "Evidence detached",
            detail:
                "\(kind.map { "The record \($0)" } ?? "The decision"), without which nothing is "
                + "proved, is in a month of evidence that the bank keeps elsewhere.",
            members: [.init("kind", .optional(kind))])
    }

    /// Rounded up, so that whoever waits for it does not come too early; at least 1.
    private static func seconds(from now: Instant, to until: Instant) -> Int64 {
        max(1, (until.milliseconds - now.milliseconds + 999) / 1000)
    }
}

// MARK: - All of them

extension Problem {
    /// Every slug that this API answers with; a label of metrics.
    static let slugs = [
        "malformed-request", "invalid-action", "unauthenticated", "forbidden", "not-found",
        "enrolment-expired", "enrolment-consumed", "enrolment-not-authorized",
        "attestation-refused", "credential-exists", "method-not-allowed",
        "unsupported-media-type", "payload-too-large", "authentication-failed",
        "challenge-expired", "challenge-consumed", "challenge-superseded", "already-decided",
        "action-expired", "action-cancelled", "attempts-exhausted", "customer-locked",
        "evidence-detached",
        "credential-not-allowed", "risk-refused", "payee-unknown", "payee-not-usable",
        "limit-exceeded",
        "idempotency-key-reuse", "idempotency-in-flight", "idempotency-key-required",
        "recovery-not-authorized", "not-pulled", "lease-lost", "receipt-contradicts",
        "too-many-requests", "act-kind-not-allowed", "act-closed", "act-already-signed",
        "act-not-proposed", "act-own-key", "act-key-not-pending", "act-no-key", "policy-changed",
        "policy-too-late", "policy-too-early", "policy-not-stricter", "too-many-shadows",
        "hold-not-held", "hold-changed", "hold-not-releasable", "customer-has-key",
        "approval-changed", "assisted-not-allowed", "legal-hold", "action-open",
        "retention-not-over", "unavailable",
        "outcome-unknown", "internal-error",
    ]
}
