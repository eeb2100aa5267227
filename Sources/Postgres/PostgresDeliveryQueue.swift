package import Countersign
package import Evidence

/// Keeps what is to be delivered to core banking, in the rows that the approving transaction wrote.
package struct PostgresDeliveryQueue: DeliveryQueue {
    let database: Database
    let sealer: EvidenceSealer

    /// A settlement competes with the customer's own requests for the action's chain.
    private static var racesMax: Int { 100 }

    package init(database: Database, sealer: EvidenceSealer) {
        self.database = database
        self.sealer = sealer
    }

    package func claim(limit: Int, lease: Seconds) async throws(StoreFailure) -> [Claim] {
        // Announcements first, so that core banking knows a key before it sees an order signed with it.
        let announcements = try await claimAnnouncements(limit, lease)
        guard announcements.count < limit else { return announcements }
        return announcements
            + (try await claimOrders(limit - announcements.count, lease, areKeysTold: false))
    }

    func claimAnnouncements(
        _ limit: Int, _ lease: Seconds
    ) async throws(StoreFailure) -> [Claim] {
        try await database.run { connection throws(PostgresError) in
            try connection.execute(
                .claimAnnouncements, [.int(limit), .interval(lease)]
            ).map { row throws(PostgresError) in try Claim(announcement: row) }
        }
    }

    /// Claims orders; when new keys are told of in the same answer, `areKeysTold`, none waits until its
    /// key was announced.
    func claimOrders(
        _ limit: Int, _ lease: Seconds, areKeysTold: Bool
    ) async throws(StoreFailure) -> [Claim] {
        try await database.run { connection throws(PostgresError) in
            try connection.execute(
                .claimOrders, [.int(limit), .interval(lease), .bool(areKeysTold)]
            ).map { row throws(PostgresError) in try Claim(order: row) }
        }
    }

    package func settle(
        _ claim: Claim, _ outcome: DeliveryOutcome
    ) async throws(StoreFailure) -> Bool {
        switch claim.item {
        case .order(let order):
            try await settle(order.actionID, lease: claim.leaseToken, phase: claim.phase, outcome)
        case .credential(let announcement):
            try await settle(announcement.credentialID, claim, outcome)
        }
    }

    private func settle(
        _ credential: ID<Credential>, _ claim: Claim, _ outcome: DeliveryOutcome
    ) async throws(StoreFailure) -> Bool {
        let token = Parameter.id(claim.leaseToken)
        switch outcome {
        case .delivered:
            return try await done(.settleAnnouncement, [.id(credential), token])
        case .retry(let after, _), .unknown(let after, _):
            return try await done(.retryAnnouncement, [.id(credential), token, .interval(after)])
        case .executed, .refused: preconditionFailure("an announcement has no receipt")
        }
    }

    /// Records what came of an order under a lease.
    func settle(
        _ action: ID<Action>, lease: ID<Lease>, phase: Claim.Phase, _ outcome: DeliveryOutcome
    ) async throws(StoreFailure) -> Bool {
        switch outcome {
        case .delivered: preconditionFailure("an order needs a receipt")
        case .retry(let after, _): return try await retry(action, lease, after)
        case .unknown(let after, let cause):
            // Evidence once; asking again later is no news.
            guard phase == .push else { return try await retry(action, lease, after) }
            return try await settle(
                action, lease, by: .markOrderUnknown, [.interval(after)],
                ActionEvidence.unknown(action, cause: cause))
        case .executed(let reference, let raw):
            return try await settle(
                action, lease, by: .settleOrder,
                [.text("executed"), .text(reference), .null, .bytes(raw)],
                ActionEvidence.executed(action, reference: reference, raw: raw))
        case .refused(let reason, let raw):
            return try await settle(
                action, lease, by: .settleOrder,
                [.text("refused"), .null, .text(reason), .bytes(raw)],
                ActionEvidence.refused(action, reason: reason, raw: raw))
        }
    }

    private func retry(
        _ action: ID<Action>, _ lease: ID<Lease>, _ after: Seconds
    ) async throws(StoreFailure) -> Bool {
        try await done(.retryOrder, [.id(action), .id(lease), .interval(after)])
    }

    /// Writes a settlement with its evidence; again when something else continued the chain meanwhile.
    ///
    /// - Parameters:
    ///   - action: The order's action.
    ///   - lease: Must still hold.
    ///   - statement: Takes subject, action, its length of chain and the lease token, then `outcome`, then
    ///     the evidence.
    ///   - outcome: What came of it.
    ///   - draft: The evidence of it.
    /// - Returns: `false` when the lease was lost.
    /// - Throws: ``StoreFailure``.
    private func settle(
        _ action: ID<Action>, _ lease: ID<Lease>, by statement: Statement, _ outcome: [Parameter],
        _ draft: EvidenceDraft
    ) async throws(StoreFailure) -> Bool {
        for _ in 0..<Self.racesMax {
            guard let place = try await place(of: action) else { return false }
            let evidence = try sealer.records(
                [draft], subject: place.subject, wrappedKey: place.wrappedKey, at: place.at,
                heads: ChainHeads(actions: [action: place.head]))
            let status = try await database.status(
                statement,
                [
                    .id(place.subject), .id(action), .int(place.head.length), .id(lease),
                ] + outcome + [.json(evidence.json)])
            switch status {
            case "settled": return true
            case "lost_lease": return false
            case "lost_race": continue
            default: throw .internalFailure(code: "status")
            }
        }
        throw .unavailable
    }

    /// Where an action's chain stands.
    private struct Place {
        let at: Instant
        let subject: ID<Subject>
        let wrappedKey: Bytes
        let head: ChainHead
    }

    private func place(of action: ID<Action>) async throws(StoreFailure) -> Place? {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.loadSettlement, [.id(action)]).single() else {
                return nil
            }
            return Place(
                at: try row["now"], subject: try row["subject_id"], wrappedKey: try row["wrapped"],
                head: ChainHead(length: try row["seq"], leafHash: try row["head"]))
        }
    }

    func done(
        _ statement: Statement, _ parameters: [Parameter]
    ) async throws(StoreFailure) -> Bool {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(statement, parameters).single() else {
                throw .malformedColumn("done")
            }
            return try row["done"]
        }
    }
}

extension Claim {
    fileprivate init(order row: Row) throws(PostgresError) {
        let order = ExecutionOrder(
            actionID: try row["action_id"],
            customerID: try word("customer_id", row) { try? CustomerID($0) },
            approvedAt: try row["decided_at"], evidenceID: try row["evidence_id"],
            leafHash: try row["leaf_hash"], message: try row["message"],
            approval: try OrderApproval(claimed: row))
        let execution: String = try row["execution"]
        self.init(
            item: .order(order), phase: execution == "unknown" ? .reconcile : .push,
            leaseToken: try row["lease_token"], attempt: try row["attempt"],
            firstAttemptAt: try row["first_attempt_at"], claimedAt: try row["claimed_at"])
    }

    fileprivate init(announcement row: Row) throws(PostgresError) {
        let kind = try word("kind", row, CredentialKind.init)
        let announcement = CredentialAnnouncement(
            credentialID: try row["credential_id"],
            customerID: try word("customer_id", row) { try? CustomerID($0) }, kind: kind,
            publicKeySPKI: try row["public_key"],
            signatureFormat: kind == .deviceKey
                ? try word("signature_format", row, SignatureFormat.init) : nil,
            enrolledAt: try row["created_at"],
            evidenceID: try row["evidence_id"])
        self.init(
            item: .credential(announcement), phase: .push, leaseToken: try row["lease_token"],
            attempt: try row["attempt"], firstAttemptAt: try row["first_attempt_at"],
            claimedAt: try row["claimed_at"])
    }
}

extension OrderApproval {
    fileprivate init(claimed row: Row) throws(PostgresError) {
        if let act: ID<Act> = try row["act_id"] {
            let text: String = try row["act_signatures"]
            guard case .array(let signatures)? = JSON(recorded: Bytes(text.utf8)) else {
                throw .malformedColumn("act_signatures")
            }
            var read: [OfficerSignature] = []
            for json in signatures { read.append(try OfficerSignature(claimed: json)) }
            self = .assisted(act: act, read)
            return
        }
        let kind = try word("kind", row, CredentialKind.init)
        let signature: Bytes = try row["signature"]
        let proof: RecordedAssertion.Proof =
            switch kind {
            case .deviceKey:
                .deviceKey(
                    signature: signature,
                    format: try word("signature_format", row, SignatureFormat.init))
            case .passkey:
                .passkey(
                    signature: signature, clientDataJSON: try row["client_data_json"],
                    authenticatorData: try row["authenticator_data"])
            }
        self = .customer(
            RecordedAssertion(
                credentialID: try row["credential_id"], publicKeySPKI: try row["public_key"],
                proof: proof))
    }
}

extension OfficerSignature {
    /// Reads one element of `act_signatures`, whose bytes are in hex.
    fileprivate init(claimed json: JSON) throws(PostgresError) {
        func bytes(_ name: String) throws(PostgresError) -> Bytes {
            guard let bytes = json[name]?.text.flatMap({ Hex.decode($0) }) else {
                throw .malformedColumn("act_signatures")
            }
            return bytes
        }
        guard let person = json["person"]?.text,
            let key = json["key_id"]?.text.flatMap({ ID<PersonKey>($0) })
        else { throw .malformedColumn("act_signatures") }
        self.init(
            person: person, key: key, message: try bytes("message"),
            signature: try bytes("signature"), clientDataJSON: try bytes("client_data_json"),
            authenticatorData: try bytes("authenticator_data"))
    }
}

extension Parameter {
    /// `interval`, in whole seconds.
    static func interval(_ seconds: Seconds) -> Self { .text("\(seconds.count) seconds") }
}
