package import Countersign
import Evidence

extension PostgresCredentialStore {
    package func enrol(
        _ credential: NewCredential, on context: EnrolmentContext
    ) async throws(StoreFailure) -> EnrolResult {
        let evidence = try seal(CredentialEvidence.enrolled(credential, on: context), context)
        let status = try await database.status(
            .enrolCredential,
            [
                .id(context.customer.subject), .int64(context.customer.version),
                .int(context.policy.version), .id(context.enrolment.id),
                .bytes(context.enrolment.message),
            ] + credential.vouching.parameters + [
                .json(credential.columns.encoded), .json(evidence),
            ])
        switch status {
        case "enrolled": return .enrolled
        case "lost_race": return .lostRace
        case "token_used": return .tokenSpent
        case "credential_exists": return .credentialExists
        default: throw .internalFailure(code: "status")
        }
    }

    package func spend(
        _ failed: FailedEnrolment, on context: EnrolmentContext
    ) async throws(StoreFailure) -> Bool {
        let evidence = try seal(CredentialEvidence.failed(failed, on: context), context)
        let counts = failed.countsAgainst != nil
        return try await succeeded(
            "spent", .spendEnrolment,
            [
                .id(context.customer.subject), .int(context.standing.failures),
                .id(context.enrolment.id), .id(failed.countsAgainst?.id),
                .id(counts ? context.voucher?.id : nil),
                .int(counts ? context.voucherHead?.length : nil),
            ] + OpenQuestions.parameters(failed.suspends) + [
                .instant(failed.locksUntil), .json(evidence),
            ])
    }

    package func loadForRevocation(
        _ credential: ID<Credential>
    ) async throws(StoreFailure) -> RevocationContext? {
        try await database.query(.loadCredentialRevocation, [.id(credential)]) {
            rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try RevocationContext(row, policy: policies.policy(row))
        }
    }

    package func revoke(
        _ command: RevokeCredentialCommand, on context: RevocationContext
    ) async throws(StoreFailure) -> RecordedCredential? {
        let credential = context.credential
        let open = context.openActions
        let evidence = try sealer.records(
            CredentialEvidence.revoked(command, on: context),
            subject: context.customer.subject, wrappedKey: context.customer.wrappedKey,
            at: context.at,
            heads: ChainHeads(
                actions: Dictionary(uniqueKeysWithValues: open.map { ($0.id, $0.head) }),
                credentials: [credential.id: context.head])
        ).json
        let isRevoked = try await succeeded(
            "revoked", .revokeCredential,
            [
                .id(context.customer.subject), .int64(context.customer.version),
                .id(credential.id), .int(context.head.length), .instant(context.at),
                .idArray(open.map(\.id)), .int64Array(open.map { Int64($0.head.length) }),
            ] + OpenQuestions.parameters(context.openQuestions) + [.json(evidence)])
        return isRevoked ? credential.revoked(at: context.at) : nil
    }

    private func seal(
        _ drafts: [EvidenceDraft], _ context: EnrolmentContext
    ) throws(StoreFailure) -> Bytes {
        var heads: [ID<Credential>: ChainHead] = [:]
        if let voucher = context.voucher, let head = context.voucherHead {
            heads[voucher.id] = head
        }
        return try sealer.records(
            drafts, subject: context.customer.subject, wrappedKey: context.customer.wrappedKey,
            at: context.at, heads: ChainHeads(credentials: heads)
        ).json
    }
}

extension Vouching {
    /// The parameters $6 to $13 of `enrol_credential`.
    fileprivate var parameters: [Parameter] {
        switch self {
        case .nobody: [Parameter](repeating: .null, count: 8)
        case .token(let token):
            [Parameter](repeating: .null, count: 6) + [
                .text(token.id), .instant(token.expiresAt),
            ]
        case .credential(let vouching):
            [
                .id(vouching.authorization.id), .bytes(vouching.authorization.message),
                .id(vouching.credential.id), .int(vouching.head.length),
                .int64(vouching.verified.signCount), .bool(vouching.verified.backupState), .null,
                .null,
            ]
        }
    }
}

extension NewCredential {
    /// The new row's columns by name; what the enrolment says is taken from its own row.
    fileprivate var columns: JSON {
        let attestation: JSON = [
            "verdict": .string(recorded.attestation.verdict.rawValue),
            "format": .optional(recorded.attestation.format),
        ]
        let transports = registration.passkey?.transports ?? []
        var platform: String?
        if case .deviceKey(let offered) = command.offered { platform = offered.platform?.text }
        return [
            "id": .string(recorded.id.text),
            "platform": .optional(platform),
            "public_key": .bytea(registration.publicKey),
            "passkey_id": registration.passkey.map { .bytea($0.credentialID) } ?? .null,
            "sign_count": .integer(Int64(registration.passkey?.signCount ?? 0)),
            "signature_format": .string(registration.signatureFormat.rawValue),
            "transports": .array(transports.map { .string($0) }),
            "backup_eligible": .bool(recorded.backupEligible),
            "backup_state": .bool(recorded.backupState),
            "attestation": .string(String(decoding: attestation.encoded, as: UTF8.self)),
            "attested": recorded.attestation.columns,
            "created_at": .string(recorded.createdAt.text),
        ]
    }
}
