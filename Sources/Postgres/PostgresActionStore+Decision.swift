package import Countersign
import Evidence

extension PostgresActionStore {
    package func load(
        action: ID<Action>, challenge: ID<Challenge>?, credential: CredentialReference?
    ) async throws(StoreFailure) -> DecisionContext? {
        try await database.query(
            .loadDecision,
            [.id(action), .id(challenge)] + CredentialReference.parameters(credential)
        ) { rows throws(PostgresError) in
            guard let row = try rows.single() else { return nil }
            return try DecisionContext(row, policy: policies.policy(row))
        }
    }

    package func commit(
        _ ruling: Ruling, on context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        switch ruling {
        case .answer(let outcome): .done(outcome)
        case .approve(let signed, let allowance): try await approve(signed, allowance, context)
        case .reject(let signed): try await reject(signed, context)
        case .rejectUnsigned(let reason): try await rejectUnsigned(reason, context)
        case .refuse(let signed, let refusal): try await refuse(signed, refusal, context)
        case .fail(let attempt): try await fail(attempt, context)
        case .tampered: try await recordTampering(context)
        }
    }

    private func approve(
        _ signed: SignedRuling, _ allowance: Allowance, _ context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        let records = try records(
            DecisionEvidence.approved(signed, allowance, on: context), on: context)
        let proof = ProofColumns(signed)
        let reserved = allowance.reservations
        let status = try await database.status(
            .approveAction,
            guards(signed, context) + [
                .bytes(proof.signature), .bytes(proof.clientDataJSON),
                .bytes(proof.authenticatorData), .digest(signed.assertionDigest),
                .int64(proof.signCount), .bool(proof.backupState), .text(signed.state.bankDay),
                .instant(allowance.hold?.until), .text(allowance.hold?.rule.rawValue),
                .text(allowance.hold?.end.rawValue),
                .textArray(reserved.map(\.dimension)), .dateArray(reserved.map(\.windowStart)),
                .int64Array(reserved.map(\.amount)), .int64Array(reserved.map(\.cap)),
                .json(allowance.ceilingColumns),
                // Unique like the challenge that confirmed it.
                .json(allowance.payeeColumns(id: signed.challenge.id.text)),
                .bool(context.action.content.kind == .transfer && signed.state.payee == nil),
                .instant(allowance.contactHoldUntil), .int64(allowance.limitBefore),
                .bytes(signed.state.encoded), .json(records.json),
            ])
        let decided = context.action.with(
            authorization: .approved, execution: allowance.hold == nil ? .ready : .held,
            hold: allowance.hold)
        return try result(status, success: "approved") {
            .decided(decision(.approved, decided, records[0], signed), replayed: false)
        }
    }

    private func reject(
        _ signed: SignedRuling, _ context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        let records = try records(DecisionEvidence.rejected(signed, on: context), on: context)
        let proof = ProofColumns(signed)
        let status = try await database.status(
            .rejectAction,
            guards(signed, context) + [
                .digest(signed.assertionDigest), .int64(proof.signCount),
                .bool(proof.backupState), .json(records.json),
            ])
        let decided = context.action.with(authorization: .rejected, execution: .none, hold: nil)
        return try result(status, success: "rejected") {
            .decided(decision(.rejected, decided, records[0], signed), replayed: false)
        }
    }

    private func rejectUnsigned(
        _ reason: RejectionReason, _ context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        let records = try records(
            DecisionEvidence.rejectedUnsigned(reason, on: context), on: context)
        let status = try await database.status(
            .rejectAction,
            [
                .id(context.versions.subject), .int64(context.versions.customer),
                .int(context.policy.version), .id(context.action.id),
                .int(context.versions.action.length), .null, .null, .null, .instant(context.at),
                .null, .null, .null, .null, .json(records.json),
            ])
        let decided = context.action.with(authorization: .rejected, execution: .none, hold: nil)
        return try result(status, success: "rejected") {
            .decided(decision(.rejected, decided, records[0], nil), replayed: false)
        }
    }

    private func refuse(
        _ signed: SignedRuling, _ refusal: PolicyRefusal, _ context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        let records = try records(
            DecisionEvidence.refused(signed, refusal, on: context), on: context)
        let proof = ProofColumns(signed)
        let status = try await database.status(
            .refuseAction,
            guards(signed, context) + [
                .int64(proof.signCount), .bool(proof.backupState), .bytes(signed.state.encoded),
                .json(records.json),
            ])
        return try result(status, success: "refused") { .refused(.policy(refusal)) }
    }

    private func fail(
        _ attempt: FailedAttempt, _ context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        let records = try records(DecisionEvidence.failed(attempt, on: context), on: context)
        let status = try await database.status(
            .recordFailure,
            [
                .id(context.versions.subject), .int(context.customer.failures),
                .id(context.action.id), .int(context.versions.action.length),
                .id(attempt.challenge.id), .bool(attempt.exhaustsChallenge),
                .bool(attempt.failsAction), .id(context.credential?.id),
                .int(context.versions.credential?.length),
            ] + OpenQuestions.parameters(attempt.suspends) + [
                .instant(attempt.locksUntil), .json(records.json),
            ])
        return try result(status, success: "recorded") { .refused(.authenticationFailed) }
    }

    private func recordTampering(
        _ context: DecisionContext
    ) async throws(StoreFailure) -> CommitResult {
        let records = try records(DecisionEvidence.tampered(on: context), on: context)
        let status = try await database.status(
            .recordTampering,
            [
                .id(context.versions.subject), .id(context.action.id),
                .int(context.versions.action.length), .json(records.json),
            ])
        return try result(status, success: "recorded") { .refused(.authenticationFailed) }
    }

    /// The parameters by which the three functions for signed rulings compare what was read.
    private func guards(_ signed: SignedRuling, _ context: DecisionContext) -> [Parameter] {
        [
            .id(context.versions.subject), .int64(context.versions.customer),
            .int(context.policy.version), .id(context.action.id),
            .int(context.versions.action.length), .id(signed.challenge.id),
            .id(signed.credential.id), .int(context.versions.credential?.length),
            .instant(context.at), .bytes(signed.message),
        ]
    }

    private func result(
        _ status: String, success: String, _ outcome: () -> DecisionOutcome
    ) throws(StoreFailure) -> CommitResult {
        switch status {
        case success: .done(outcome())
        case "lost_race": .lostRace
        case "tampered": .tampered
        default: throw .internalFailure(code: "status")
        }
    }

    private func decision(
        _ outcome: Authorization, _ action: RecordedAction, _ record: SealedEvidence,
        _ signed: SignedRuling?
    ) -> RecordedDecision {
        RecordedDecision(
            outcome: outcome, challengeID: signed?.challenge.id,
            assertionDigest: signed?.assertionDigest, action: action, evidenceID: record.id,
            leafHash: record.leafHash)
    }
}

/// What a verified proof leaves in columns.
private struct ProofColumns {
    let signature: Bytes
    let clientDataJSON: Bytes?
    let authenticatorData: Bytes?
    let signCount: Int64?
    let backupState: Bool

    init(_ signed: SignedRuling) {
        let passkey: PasskeyAssertion?
        switch signed.assertion {
        case .deviceKey(_, let signature, _):
            passkey = nil
            self.signature = signature
        case .passkey(let assertion):
            passkey = assertion
            signature = assertion.signature
        case .payment(let payment):
            passkey = payment.passkey
            signature = payment.passkey.signature
        }
        clientDataJSON = passkey?.clientDataJSON
        authenticatorData = passkey?.authenticatorData
        signCount = signed.verified.signCount
        backupState = signed.verified.backupState
    }
}
