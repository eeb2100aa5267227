import Countersign

extension DecisionContext {
    /// Reads a row of `load_decision`.
    init(_ row: Row, policy: Policy) throws(PostgresError) {
        let columns = try ActionColumns(row)
        let challenge = try Challenge(loaded: row)
        let told: Bytes? = try row["told_message"]
        let toldContent = told.flatMap { SignedMessage(decoding: $0)?.content }
        let action = try columns.action(
            orContent: challenge.flatMap { SignedMessage(decoding: $0.approveMessage)?.content }
                ?? toldContent)
        let at: Instant = try row["now"]
        let credential = try RegisteredCredential(loaded: row)
        self.init(
            at: at, action: action,
            actionIsIntact: columns.content != nil
                && (told == nil || toldContent == columns.content),
            actionFailures: try row["action_failures"], challenge: challenge,
            customer: try CustomerStanding(row),
            credential: credential, decision: try RecordedDecision(loaded: row, action),
            policy: policy,
            state: try credential.map { credential throws(PostgresError) in
                try RecordedState(
                    row, at: at, risk: action.risk,
                    RecordedState.Credential(
                        traits: credential.traits, createdAt: credential.createdAt))
            }, versions: try RecordVersions(row))
    }
}

extension RegisteredCredential {
    /// Reads the credential of a load; `nil` when the assertion names none of this customer's.
    init?(loaded row: Row) throws(PostgresError) {
        guard let id: ID<Credential> = try row["credential_id"] else { return nil }
        let kind = try word("credential_kind", row, CredentialKind.init)
        let publicKey: Bytes = try row["public_key"]
        let count: Int64 = try row["sign_count"]
        guard let signCount = UInt32(exactly: count) else { throw .malformedColumn("sign_count") }
        let stored: StoredCredential
        switch kind {
        case .deviceKey:
            let appAttestKey: Bytes? = try row["app_attest_key"]
            stored = .deviceKey(
                StoredDeviceKey(
                    id: id, key: publicKey,
                    signatureFormat: try word("signature_format", row, SignatureFormat.init),
                    appAttest: appAttestKey.map { StoredAppAttest(key: $0, counter: signCount) }))
        case .passkey:
            stored = .passkey(
                StoredPasskey(
                    credentialID: try row["passkey_id"], key: publicKey, signCount: signCount,
                    backupEligible: try row["backup_eligible"], userHandle: try row["user_handle"]))
        }
        self.init(
            id: id, kind: kind, isActive: try row["credential_status"] == "active", stored: stored,
            publicKey: publicKey, createdAt: try row["credential_created_at"],
            profiles: try [AttestationProfile](row), backupState: try row["backup_state"],
            failures: try row["credential_failures"],
            openQuestions: try OpenQuestions(row) ?? .none,
            evidenceID: try row["credential_evidence_id"])
    }
}

extension RecordedDecision {
    /// Reads the decision of a load; `nil` when there is none yet.
    fileprivate init?(loaded row: Row, _ action: RecordedAction) throws(PostgresError) {
        guard let outcome: String = try row["decision_outcome"] else { return nil }
        let authorization: Authorization = outcome == "approved" ? .approved : .rejected
        self.init(
            outcome: authorization, challengeID: try row["decision_challenge_id"],
            assertionDigest: try row["assertion_digest"],
            action: action.with(
                authorization: authorization,
                execution: try word("decision_execution", row, Execution.init),
                hold: try ActionColumns.hold(row, prefix: "decision_")),
            evidenceID: try row["decision_evidence_id"], leafHash: try row["decision_leaf_hash"])
    }
}

extension RecordedState {
    /// Reads the columns of `policy_state`, and the customer's holds.
    init(
        _ row: Row, at: Instant, risk: RecordedRisk, _ credential: Credential?
    ) throws(PostgresError) {
        var payee: RecordedPayee?
        if let id: ID<Payee> = try row["payee_id"] {
            payee = RecordedPayee(
                id: id, confirmedAt: try row["payee_confirmed_at"],
                usableAt: try row["payee_usable_at"], newUntil: try row["payee_new_until"],
                firstExecutedAt: try row["payee_first_executed_at"])
        }
        self.init(
            at: at, bankDay: try row["bank_day"], contactHoldUntil: try row["contact_hold_until"],
            recoveredAt: try row["recovered_at"], credential: credential, payee: payee, risk: risk,
            used: Used(
                today: try row["used_today"], last24h: try row["used_last_24h"],
                whileNew: try row["used_while_new"],
                transfersInWindow: try row["transfers_in_window"],
                newPayeesToday: try row["new_payees_today"]),
            ownLimits: OwnLimits(
                singleMax: try OwnAmount(row["own_single_max"], row["own_single_raised"]),
                dailyMax: try OwnAmount(row["own_daily_max"], row["own_daily_raised"])))
    }
}

extension RecordedState.OwnAmount {
    fileprivate init?(_ minorUnits: Int64?, _ isRaised: Bool) {
        guard let minorUnits else { return nil }
        self.init(minorUnits, isRaised: isRaised)
    }
}

extension RecordVersions {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            subject: try row["subject_id"], customer: try row["customer_version"],
            action: ChainHead(length: try row["action_seq"], leafHash: try row["action_head"]),
            credential: try ChainHead(ofCredential: row), wrappedKey: try row["wrapped"])
    }
}
