package import Countersign

/// What is recorded of an action beside its decision.
package enum ActionEvidence {
    /// A stored action and its first challenge.
    package static func created(_ creation: ActionCreation) -> [EvidenceDraft] {
        [
            EvidenceDraft(
                .actionCreated, action: creation.action.id, outcome: "pending",
                body: [
                    "action": creation.action.json,
                    "client_id": .string(creation.command.client.text),
                    "risk": creation.command.risk ?? .null,
                ]),
            issued(creation.challenge, for: creation.action.id),
        ]
    }

    /// A challenge: the very bytes of which one may be signed.
    package static func issued(_ challenge: Challenge, for action: ID<Action>) -> EvidenceDraft {
        EvidenceDraft(
            .challengeIssued, action: action,
            body: [
                "challenge_id": .string(challenge.id.text),
                "expires_at": .string(challenge.expiresAt.text),
                "approve_message": .string(Base64.encodeURL(challenge.approveMessage)),
                "reject_message": .string(Base64.encodeURL(challenge.rejectMessage)),
            ])
    }

    /// An action that is taken back, by the bank or by a rule.
    package static func cancelled(_ action: ID<Action>, reason: String) -> EvidenceDraft {
        EvidenceDraft(
            .actionCancelled, action: action, outcome: "cancelled",
            body: ["reason": .string(reason)])
    }

    /// An action whose time ran out.
    package static func expired(_ action: ID<Action>, expiresAt: Instant) -> EvidenceDraft {
        EvidenceDraft(
            .actionExpired, action: action, outcome: "expired",
            body: ["expires_at": .string(expiresAt.text)])
    }

    /// The end of a hold.
    package static func released(_ action: ID<Action>, hold: Hold) -> EvidenceDraft {
        EvidenceDraft(.actionReleased, action: action, outcome: "ready", body: ["hold": hold.json])
    }

    /// The end of a hold by two people: what they signed is in the evidence of their act.
    package static func ended(_ ending: HoldEnding, by act: RecordedAct, and last: Person)
        -> EvidenceDraft
    {
        EvidenceDraft(
            ending.isCancel ? .actionCancelled : .actionReleased, action: ending.held.id,
            outcome: ending.isCancel ? "cancelled" : "ready",
            body: [
                "hold": ending.hold.json, "reason": .string(ending.reason),
                "act_id": .string(act.id.text), "document_digest": .string(act.digest.hex),
                "people": .array((ending.earlier + [last]).map { .string($0.name) }),
            ])
    }

    /// Core banking's receipt, byte for byte.
    package static func executed(
        _ action: ID<Action>, reference: String, raw: Bytes
    ) -> EvidenceDraft {
        EvidenceDraft(
            .orderExecuted, action: action, outcome: "executed",
            body: ["reference": .string(reference), "raw": .string(Base64.encodeURL(raw))])
    }

    /// Core banking's refusal, byte for byte.
    package static func refused(_ action: ID<Action>, reason: String, raw: Bytes) -> EvidenceDraft {
        EvidenceDraft(
            .orderRefused, action: action, outcome: "refused",
            body: ["reason": .string(reason), "raw": .string(Base64.encodeURL(raw))])
    }

    /// What core banking said of an order beside its receipt, byte for byte. The receipt stands.
    package static func contradicted(
        _ submitted: SubmittedReceipt, recorded: CoreReceipt
    ) -> EvidenceDraft {
        EvidenceDraft(
            .orderContradicted, action: submitted.action, outcome: recorded.status.rawValue,
            body: [
                "recorded": recorded.json, "submitted": submitted.receipt.json,
                "raw": .string(Base64.encodeURL(submitted.raw)),
            ])
    }

    /// Retries are used up; what core banking did is not known.
    package static func unknown(_ action: ID<Action>, cause: UnsettledCause) -> EvidenceDraft {
        EvidenceDraft(
            .orderUnknown, action: action, outcome: "unknown",
            body: ["cause": .string(cause.rawValue)])
    }
}

extension CoreReceipt {
    fileprivate var json: JSON {
        [
            "status": .string(status.rawValue), "reference": .optional(reference),
            "reason": .optional(reason),
        ]
    }
}
