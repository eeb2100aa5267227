package import Countersign

extension DecisionEvidence {
    /// An approval by officers: the document that they signed, who they are, and how the policy decided on
    /// what. Their signatures are in the evidence of the act, which an audit demands.
    package static func assisted(
        _ ruling: AssistedRuling, by act: RecordedAct, and last: Person
    ) -> [EvidenceDraft] {
        let found = ruling.found
        let request = ruling.approval.request
        return [
            EvidenceDraft(
                .actionApproved, action: found.action.id, policy: found.policy.digest,
                outcome: "approved",
                body: .object(
                    about(found, act, people: ruling.earlier + [last]) + [
                        .init("reason", .string(request.reason.text)),
                        .init("identity_check", request.identityCheck.json),
                        .init(
                            "policy",
                            policy(found.policy, found.state, .allowed(ruling.allowance))),
                    ]))
        ] + following(ruling.allowance, found.action)
    }

    /// An approval by officers that the policy does not allow, or that the customer's own key stands against:
    /// then no policy was asked. `nil` for every other refusal, which is none of a decision.
    package static func assisted(
        refusedTo people: [Person], because refusal: ActRefusal, of found: AssistedAction,
        by act: RecordedAct
    ) -> EvidenceDraft? {
        let members = about(found, act, people: people)
        switch refusal {
        case .action(.policy(let rule)):
            return EvidenceDraft(
                .actionRefused, action: found.action.id, policy: found.policy.digest,
                outcome: rule.word,
                body: .object(
                    members + [
                        .init("policy", policy(found.policy, found.state, .refused(rule)))
                    ]))
        case .customerHasKey:
            return EvidenceDraft(
                .actionRefused, action: found.action.id, outcome: refusal.recordedWord,
                body: .object(members))
        default: return nil
        }
    }

    /// A stored action that is not what its customer was asked, or not what officers were shown.
    package static func tampered(
        _ found: AssistedAction, contradicting document: Bytes?
    ) -> EvidenceDraft {
        EvidenceDraft(
            .tamperDetected, action: found.action.id, outcome: "refused",
            body: [
                "found": found.action.content.json, "found_is_valid": .bool(found.isIntact),
                "document": .optional(document.map { Base64.encodeURL($0) }),
            ])
    }

    private static func about(
        _ found: AssistedAction, _ act: RecordedAct, people: [Person]
    ) -> [JSON.Member] {
        [
            .init("signed", .bool(false)), .init("approval", "assisted"),
            .init("act_id", .string(act.id.text)),
            .init("document", .string(Base64.encodeURL(act.document))),
            .init("document_digest", .string(act.digest.hex)),
            .init("people", .array(people.map { .string($0.name) })),
            .init("decided_at", .string(found.at.text)),
        ]
    }
}
