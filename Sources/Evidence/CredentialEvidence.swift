package import Countersign

/// What is recorded of a customer's keys, with all that a stranger needs to verify it again.
package enum CredentialEvidence {
    /// A registered key: the proof of its possession and who vouched for it. The first of its chain.
    package static func enrolled(
        _ credential: NewCredential, on context: EnrolmentContext
    ) -> [EvidenceDraft] {
        let recorded = credential.recorded
        var body: [JSON.Member] = [
            .init("client_id", .string(credential.command.client.text)),
            .init("enrolment_id", .string(context.enrolment.id.text)),
            .init("kind", .string(recorded.kind.rawValue)),
            .init("label", .string(recorded.label)),
            .init("public_key", .string(Base64.encodeURL(credential.registration.publicKey))),
            .init("signature_format", .optional(recorded.signatureFormat?.rawValue)),
            .init("message", .string(Base64.encodeURL(context.enrolment.message))),
            .init("attestation", recorded.attestation.withoutFacts),
            .init("assurance", .string(recorded.assurance.rawValue)),
            .init("backup_eligible", .bool(recorded.backupEligible)),
            .init("backup_state", .bool(recorded.backupState)),
            .init("enrolled_at", .string(recorded.createdAt.text)),
        ]
        if let passkey = credential.registration.passkey {
            body.append(.init("sign_count", .integer(Int64(passkey.signCount))))
        }
        let (proof, statement) = credential.command.offered.evidenceWithoutStatement
        body.append(.init("proof", proof))
        let authorization = authorization(credential, context)
        body.append(.init("authorization", ["kind": authorization["kind"] ?? .null]))
        var drafts = [
            EvidenceDraft(
                .credentialEnrolled, credential: recorded.id, outcome: "active",
                body: .object(body),
                attachment: .object(
                    [
                        .init("authorization", authorization),
                        .init("facts", recorded.attestation.facts),
                    ] + statement))
        ]
        if case .credential(let vouching) = credential.vouching {
            drafts.append(
                EvidenceDraft(
                    .credentialAuthorized, credential: vouching.credential.id,
                    body: [
                        "credential_id": .string(recorded.id.text),
                        "challenge_id": .string(vouching.authorization.id.text),
                    ]))
            drafts += backupStateChanged(of: vouching.credential, vouching.verified)
        }
        return drafts
    }

    /// An enrolment that failed: all bytes that came, the reason, and what the count made of it.
    package static func failed(
        _ failed: FailedEnrolment, on context: EnrolmentContext
    ) -> [EvidenceDraft] {
        var body: [JSON.Member] = [
            .init("client_id", .string(failed.command.client.text)),
            .init("enrolment_id", .string(context.enrolment.id.text)),
            .init("message", .string(Base64.encodeURL(context.enrolment.message))),
            .init("stage", .string(failed.fault.stage)),
            .init("reason", .string(failed.fault.code)),
            .init("proof", failed.command.offered.evidence),
            .init("authorization", claim(failed.command.authorization, context)),
            .init("counted", .bool(failed.countsAgainst != nil)),
        ]
        if failed.countsAgainst != nil {
            let customer: [JSON.Member] = [
                .init("customer", .integer(Int64(context.standing.failures + 1)))
            ]
            body.append(
                .init("failures", .object(customer + (context.voucher?.countedFailure ?? []))))
        }
        var drafts = [
            EvidenceDraft(
                failed.fault == .tampered ? .tamperDetected : .attemptFailed,
                credential: failed.countsAgainst == nil ? nil : context.voucher?.id,
                outcome: failed.fault.code, body: .object(body))
        ]
        if let until = failed.locksUntil {
            drafts.append(EvidenceDraft(.customerLocked, body: ["until": .string(until.text)]))
        }
        return drafts + suspended(context.voucher, failed.suspends)
    }

    /// That a passkey's proof said otherwise than before whether it is copied; mostly nothing.
    static func backupStateChanged(
        of credential: RegisteredCredential, _ verified: VerifiedAssertion
    ) -> [EvidenceDraft] {
        let (old, new) = (credential.backupState, verified.backupState)
        guard old != new else { return [] }
        return [
            EvidenceDraft(
                .credentialBackupStateChanged, credential: credential.id,
                body: ["old": .bool(old), "new": .bool(new)])
        ]
    }

    /// That a failure was a credential's last, and what ended with it; mostly nothing.
    static func suspended(
        _ credential: RegisteredCredential?, _ ended: OpenQuestions?
    ) -> [EvidenceDraft] {
        guard let credential, let ended else { return [] }
        let failures: JSON.Member = .init(
            "failures", .integer(Int64(RegisteredCredential.failuresMax)))
        return [
            EvidenceDraft(
                .credentialSuspended, credential: credential.id, outcome: "suspended",
                body: .object([failures] + ended.members))
        ]
    }

    /// The end of a key, and of everything that it approved and that was not yet sent.
    package static func revoked(
        _ command: RevokeCredentialCommand, on context: RevocationContext
    ) -> [EvidenceDraft] {
        let actions = context.openActions.map(\.id)
        return [
            EvidenceDraft(
                .credentialRevoked, credential: context.credential.id, outcome: "revoked",
                body: .object(
                    [
                        .init("client_id", .string(command.client.text)),
                        .init("reason", .string(command.reason.text)),
                        .init("cancelled_actions", .array(actions.map { .string($0.text) })),
                    ] + context.openQuestions.members))
        ] + actions.map { ActionEvidence.cancelled($0, reason: "credential_revoked") }
    }

    /// Who vouched, with the bytes that prove it.
    private static func authorization(
        _ credential: NewCredential, _ context: EnrolmentContext
    ) -> JSON {
        let claim = claim(credential.command.authorization, context)
        guard case .credential(let vouching) = credential.vouching,
            case .object(let members) = claim
        else { return claim }
        let voucher = vouching.credential
        return .object(
            members + [
                .init("public_key", .string(Base64.encodeURL(voucher.publicKey))),
                .init("signature_format", .optional(voucher.signatureFormat?.rawValue)),
                .init("assurance", .string(voucher.assurance.rawValue)),
                .init("enrolment_evidence_id", .string(voucher.evidenceID.text)),
            ])
    }

    /// What came to vouch, byte for byte, and the question that it answers.
    private static func claim(
        _ authorization: EnrolmentAuthorization, _ context: EnrolmentContext
    ) -> JSON {
        switch authorization {
        case .none: ["kind": "none"]
        // The whole token: header, claims and signature, to be verified again with the bank's key.
        case .scaToken(let token): ["kind": "sca_token", "token": .string(token)]
        case .assertion(let challenge, let assertion):
            [
                "kind": "assertion",
                "challenge_id": .string(challenge.text),
                "message": .optional(
                    context.authorization.map { Base64.encodeURL($0.message) }),
                "assertion": assertion.evidence,
            ]
        }
    }
}

extension Attestation {
    /// What was made of the statement; its bytes, and the facts in it, are kept beside the body.
    var withoutFacts: JSON { .object(judgement) }

    /// The same with the facts, where nothing is kept beside the body.
    var evidence: JSON { .object(judgement + [.init("facts", facts)]) }

    private var judgement: [JSON.Member] {
        [
            .init("verdict", .string(verdict.rawValue)), .init("format", .optional(format)),
            .init("profiles", profiles.json),
        ]
    }
}

extension [AttestationProfile] {
    /// The names of the profiles.
    var json: JSON { .array(map { .string($0.rawValue) }) }
}

extension OpenQuestions {
    /// What was open, and is void now.
    var members: [JSON.Member] {
        [
            .init("voided_challenges", .array(challenges.map { .string($0.text) })),
            .init("voided_authorizations", .array(authorizations.map { .string($0.text) })),
        ]
    }
}

extension RegisteredCredential {
    /// Its count after one more failure; nothing for one that has ended, which counts none.
    var countedFailure: [JSON.Member] {
        isActive ? [.init("credential", .integer(Int64(failures + 1)))] : []
    }
}

extension OfferedCredential {
    /// The key and the proof without what its maker says of it, which is long, and that.
    var evidenceWithoutStatement: (proof: JSON, statement: [JSON.Member]) {
        guard case .object(let members) = evidence else { return (evidence, []) }
        let names = ["attestation", "attestation_object"]
        return (
            .object(members.filter { !names.contains($0.name) }),
            members.filter { names.contains($0.name) }
        )
    }

    /// The key and the proof as they came.
    package var evidence: JSON {
        switch self {
        case .deviceKey(let offered):
            [
                "kind": .string(CredentialKind.deviceKey.rawValue),
                "public_key": .string(offered.publicKey),
                "signature": .string(Base64.encodeURL(offered.signature)),
                "signature_format": .string(offered.signatureFormat.rawValue),
                "platform": .optional(offered.platform?.text),
                "attestation": offered.attestation.map { attestation in
                    [
                        "format": .string(attestation.format),
                        "certificates": .array(
                            attestation.certificates.map { .string(Base64.encodeURL($0)) }),
                        "app_attest": attestation.appAttest.map { statement in
                            [
                                "object": .string(Base64.encodeURL(statement.object)),
                                "key_id": .string(Base64.encodeURL(statement.keyID)),
                            ]
                        } ?? .null,
                    ]
                } ?? .null,
            ]
        case .passkey(let offered):
            [
                "kind": .string(CredentialKind.passkey.rawValue),
                "passkey_id": .string(Base64.encodeURL(offered.rawID)),
                "client_data_json": .string(Base64.encodeURL(offered.clientDataJSON)),
                "attestation_object": .string(Base64.encodeURL(offered.attestationObject)),
                "transports": .array(offered.transports.map { .string($0) }),
            ]
        }
    }
}
