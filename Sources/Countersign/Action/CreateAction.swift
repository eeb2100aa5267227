/// A request to store an action for a customer to sign.
package struct CreateActionCommand: Sendable {
    package let client: ID<Client>
    package let customerID: CustomerID
    package let content: ActionContent
    /// The caller's own reference, unique per client.
    package let externalID: ExternalID?
    /// What the bank knows about the risk, as given; `nil` when it said nothing.
    package let risk: JSON?
    package let idempotencyKey: String

    package init(
        client: ID<Client>, customerID: CustomerID, content: ActionContent, externalID: ExternalID?,
        risk: JSON?, idempotencyKey: String
    ) {
        self.client = client
        self.customerID = customerID
        self.content = content
        self.externalID = externalID
        self.risk = risk
        self.idempotencyKey = idempotencyKey
    }

    /// What makes it the same command: everything but the caller's key, after normalisation.
    package var bytesToCompare: Bytes {
        var members = content.members
        members["kind"] = content.kind.rawValue
        members["customer_id"] = customerID.text
        members["external_id"] = externalID?.text ?? ""
        members["risk"] = risk.map { String(decoding: $0.encoded, as: UTF8.self) } ?? ""
        return CanonicalJSON.encode(members)
    }
}

/// What came of creating an action.
package enum CreationOutcome: Sendable {
    /// The answer to send with status 201, byte for byte; `replayed` when it was given before.
    case created(answer: Bytes, replayed: Bool)
    case refused(CreationRefusal)
}

/// Why no action was created.
package enum CreationRefusal: Equatable, Sendable {
    /// The idempotency key was used for another command.
    case idempotencyKeyReused
    /// Another request with the same key is still being worked on.
    case idempotencyInFlight
    case externalIDExists
    /// More live challenges than the policy allows for one customer.
    case tooManyOpenChallenges(retryAfter: Seconds)
}

/// Stores an action with its first challenge.
package struct CreateAction<Store: ActionStore>: Sendable {
    private let store: Store
    private let issuer: ChallengeIssuer
    private let sha256: Hasher256

    /// Two creations with one idempotency key meet at most once each; more is an attack on one's self.
    private static var racesMax: Int { 5 }

    package init(store: Store, issuer: ChallengeIssuer, sha256: Hasher256) {
        self.store = store
        self.issuer = issuer
        self.sha256 = sha256
    }

    /// - Throws: ``StoreFailure``; the same command may be sent again with the same key.
    package func callAsFunction(
        _ command: CreateActionCommand
    ) async throws(StoreFailure) -> CreationOutcome {
        let fingerprint = sha256(command.bytesToCompare)
        for _ in 0..<Self.racesMax {
            let context = try await store.loadForCreation(command)
            if let answered = context.answered {
                guard answered.fingerprint == fingerprint else {
                    return .refused(.idempotencyKeyReused)
                }
                try await store.barrier()
                return .created(answer: answered.answer, replayed: true)
            }
            let action = RecordedAction(
                id: issuer.makeID(at: context.at), customerID: command.customerID,
                content: command.content, externalID: command.externalID?.text,
                risk: RecordedRisk(given: command.risk), policyVersion: context.policy.version,
                authorization: .pending, execution: .none,
                hold: nil, createdAt: context.at,
                expiresAt: (context.at + context.policy.rules.actionLifetime).wholeSeconds)
            let issued = issuer.issue(
                for: action, at: context.at, rules: context.policy.rules, passkeys: context.passkeys
            )
            let forecast = context.policy.decide(command.content, context.state)
            let answer: JSON = [
                "action": action.json, "challenge": issued.json, "forecast": forecast.forecast,
            ]
            let creation = ActionCreation(
                command: command, fingerprint: fingerprint, action: action,
                challenge: issued.challenge, answer: answer.encoded)
            switch try await store.create(creation, on: context) {
            case .created: return .created(answer: creation.answer, replayed: false)
            case .keyInFlight: return .refused(.idempotencyInFlight)
            case .keyUsed: continue
            case .externalIDExists: return .refused(.externalIDExists)
            case .tooManyOpen:
                return .refused(
                    .tooManyOpenChallenges(retryAfter: context.policy.rules.challengeLifetime))
            }
        }
        throw .unavailable
    }
}
