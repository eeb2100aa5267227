/// How enrolments and credentials are shown in answers. Source: `docs/api.md`.
extension EnrolmentOffer {
    /// The whole answer to opening an enrolment.
    package var json: JSON {
        var members: [JSON.Member] = [
            .init("enrolment_id", .string(id.text)),
            .init("kind", .string(kind.rawValue)),
            .init("expires_at", .string(expiresAt.text)),
            .init("message", .string(Base64.encodeURL(message))),
        ]
        if let webauthn { members.append(.init("webauthn", webauthn)) }
        return .object(members)
    }
}

extension AuthorizationChallenge {
    /// The member `challenge` of the answer.
    package var json: JSON {
        var members: [JSON.Member] = [
            .init("id", .string(id.text)),
            .init("enrolment_id", .string(enrolmentID.text)),
            .init("expires_at", .string(expiresAt.text)),
            .init("message", .string(Base64.encodeURL(message))),
        ]
        if let webauthn { members.append(.init("webauthn", webauthn)) }
        return .object(members)
    }
}

extension RecordedCredential {
    /// The member `credential` of every answer.
    package var json: JSON {
        [
            "id": .string(id.text),
            "customer_id": .string(customerID.text),
            "kind": .string(kind.rawValue),
            "status": .string(status.rawValue),
            "label": .string(label),
            "created_at": .string(createdAt.text),
            "usable_at": .optional(usableAt?.text),
            "revoked_at": .optional(revokedAt?.text),
            "signature_format": .optional(signatureFormat?.rawValue),
            "attestation": [
                "verdict": .string(attestation.verdict.rawValue),
                "format": .optional(attestation.format),
                "profiles": .array(attestation.profiles.map { .string($0.rawValue) }),
                "facts": attestation.facts,
            ],
            "backup_eligible": .bool(backupEligible),
            "backup_state": .bool(backupState),
            "assurance": .string(assurance.rawValue),
        ]
    }
}
