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
                body: [
                    "signed": .bool(false), "approval": "assisted",
                    "act_id": .string(act.id.text),
                    "document": .string(Base64.encodeURL(act.document)),
                    "document_digest": .string(act.digest.hex),
                    "people": .array((ruling.earlier + [last]).map { .string($0.name) }),
                    "reason": .string(request.reason.text),
                    "identity_check": request.identityCheck.json,
                    "decided_at": .string(found.at.text),
                    "policy": policy(found.policy, found.state, .allowed(ruling.allowance)),
                ])
        ] + following(ruling.allowance, found.action)
    }
}
