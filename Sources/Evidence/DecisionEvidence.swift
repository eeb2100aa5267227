package import Countersign

/// What is recorded of a decision, with all that a stranger needs to verify it again.
package enum DecisionEvidence {
    /// An approval: the signed bytes, the proof, the key, and how the policy decided on what.
    package static func approved(
        _ signed: SignedRuling, _ allowance: Allowance, on context: DecisionContext
    ) -> [EvidenceDraft] {
        let id = context.action.id
        let drafts =
            [
                EvidenceDraft(
                    .actionApproved, action: id, credential: signed.credential.id,
                    policy: context.policy.digest, outcome: "approved",
                    body: body(signed, context, verdict: .allowed(allowance)))
            ] + following(allowance, context.action)
        return drafts + signed.consequences
    }

    /// What an approval brings about, told in records of its own.
    static func following(_ allowance: Allowance, _ action: RecordedAction) -> [EvidenceDraft] {
        var drafts: [EvidenceDraft] = []
        if let hold = allowance.hold {
            drafts.append(
                EvidenceDraft(
                    .actionHeld, action: action.id, outcome: "held", body: ["hold": hold.json]))
        }
        if let times = allowance.payeeTimes, case .newPayee(let newPayee) = action.content {
            drafts.append(
                EvidenceDraft(
                    .payeeAdded, action: action.id,
                    body: [
                        "payee": newPayee.payee.json,
                        "usable_at": .string(times.usableAt.text),
                        "new_until": .string(times.newUntil.text),
                    ]))
        }
        return drafts
    }

    /// A signed rejection.
    package static func rejected(
        _ signed: SignedRuling, on context: DecisionContext
    ) -> [EvidenceDraft] {
        [
            EvidenceDraft(
                .actionRejected, action: context.action.id, credential: signed.credential.id,
                outcome: "rejected", body: body(signed, context, verdict: nil))
        ] + signed.consequences
    }

    /// A rejection without a signature; the record says so.
    package static func rejectedUnsigned(
        _ reason: RejectionReason, on context: DecisionContext
    ) -> [EvidenceDraft] {
        [
            EvidenceDraft(
                .actionRejected, action: context.action.id, outcome: "rejected",
                body: ["signed": .bool(false), "reason": .string(reason.rawValue)])
        ]
    }

    /// A good proof of something that the policy does not allow.
    package static func refused(
        _ signed: SignedRuling, _ refusal: PolicyRefusal, on context: DecisionContext
    ) -> [EvidenceDraft] {
        [
            EvidenceDraft(
                .actionRefused, action: context.action.id, credential: signed.credential.id,
                policy: context.policy.digest, outcome: refusal.word,
                body: body(signed, context, verdict: .refused(refusal)))
        ] + signed.consequences
    }

    /// A proof that was not believed: all its bytes, the reason, and what the counts made of it.
    package static func failed(
        _ attempt: FailedAttempt, on context: DecisionContext
    ) -> [EvidenceDraft] {
        let id = context.action.id
        var failures: [JSON.Member] = [
            .init("challenge", .integer(Int64(attempt.challenge.failures + 1))),
            .init("action", .integer(Int64(context.actionFailures + 1))),
            .init("customer", .integer(Int64(context.customer.failures + 1))),
        ]
        failures += context.credential?.countedFailure ?? []
        var drafts = [
            EvidenceDraft(
                .attemptFailed, action: id, credential: context.credential?.id,
                outcome: attempt.reason.code,
                body: [
                    "challenge_id": .string(attempt.challenge.id.text),
                    "reason": .string(attempt.reason.code),
                    "failures": .object(failures),
                    "assertion": attempt.assertion.evidence,
                ])
        ]
        if attempt.failsAction {
            drafts.append(
                EvidenceDraft(
                    .actionFailed, action: id, outcome: "failed",
                    body: ["reason": "attempts_exhausted"]))
        }
        if let until = attempt.locksUntil {
            drafts.append(
                EvidenceDraft(.customerLocked, body: ["until": .string(until.text)]))
        }
        return drafts + CredentialEvidence.suspended(context.credential, attempt.suspends)
    }

    /// A stored message that does not say what the stored action says: both, as they were found.
    package static func tampered(on context: DecisionContext) -> [EvidenceDraft] {
        [
            EvidenceDraft(
                .tamperDetected, action: context.action.id, outcome: "refused",
                body: [
                    "found": context.action.content.json,
                    "found_is_valid": .bool(context.actionIsIntact),
                    "approve_message": .optional(
                        context.challenge.map { Base64.encodeURL($0.approveMessage) }),
                    "reject_message": .optional(
                        context.challenge.map { Base64.encodeURL($0.rejectMessage) }),
                ])
        ]
    }

    private static func body(
        _ signed: SignedRuling, _ context: DecisionContext, verdict: PolicyVerdict?
    ) -> JSON {
        var members: [JSON.Member] = [
            .init("signed", .bool(true)),
            .init("challenge_id", .string(signed.challenge.id.text)),
            .init("message", .string(Base64.encodeURL(signed.message))),
            .init("assertion", signed.assertion.evidence),
            .init("public_key", .string(Base64.encodeURL(signed.credential.publicKey))),
            .init("signature_format", .optional(signed.credential.signatureFormat?.rawValue)),
            .init("enrolment_evidence_id", .string(signed.credential.evidenceID.text)),
            .init("assurance", .string(signed.credential.assurance.rawValue)),
            .init("profiles", signed.credential.profiles.json),
            .init("decided_at", .string(context.at.text)),
        ]
        if let verdict {
            members.append(.init("policy", policy(context.policy, signed.state, verdict)))
        }
        return .object(members)
    }

    /// How a policy decided, and on what.
    static func policy(
        _ policy: Policy, _ state: RecordedState, _ verdict: PolicyVerdict
    ) -> JSON {
        [
            "version": .integer(Int64(policy.version)), "digest": .string(policy.digest.hex),
            "inputs": state.json, "verdict": verdict.json,
        ]
    }
}

extension SignedRuling {
    /// What the proof told of its credential besides.
    fileprivate var consequences: [EvidenceDraft] {
        CredentialEvidence.backupStateChanged(of: credential, verified)
    }
}

extension UnverifiedAssertion {
    /// The assertion's bytes as they came, in base64url.
    package var evidence: JSON {
        switch self {
        case .deviceKey(let credential, let signature, let appAttest):
            [
                "kind": .string(CredentialKind.deviceKey.rawValue),
                "credential_id": .string(credential.text),
                "signature": .string(Base64.encodeURL(signature)),
                "app_attest": .optional(appAttest.map(Base64.encodeURL)),
            ]
        case .passkey(let passkey): .object(passkey.evidence)
        case .payment(let payment):
            .object(
                payment.passkey.evidence + [
                    // The key that made it is in the client data, which it signed.
                    .init(
                        "payment",
                        [
                            "browser_bound_signature": .optional(
                                payment.browserBoundSignature.map(Base64.encodeURL))
                        ])
                ])
        }
    }
}

extension PasskeyAssertion {
    fileprivate var evidence: [JSON.Member] {
        [
            .init("kind", .string(CredentialKind.passkey.rawValue)),
            .init("passkey_id", .string(Base64.encodeURL(rawID))),
            .init("client_data_json", .string(Base64.encodeURL(clientDataJSON))),
            .init("authenticator_data", .string(Base64.encodeURL(authenticatorData))),
            .init("signature", .string(Base64.encodeURL(signature))),
            .init("user_handle", .optional(userHandle.map(Base64.encodeURL))),
        ]
    }
}
