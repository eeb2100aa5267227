package import Countersign

extension PostgresActionStore: ActionReader {
    package func action(_ id: ID<Action>) async throws(StoreFailure) -> RecordedAction? {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.readAction, [.id(id)]).single() else {
                return nil
            }
            return try ActionColumns(row).action().seen(at: row["now"])
        }
    }

    package func actions(
        _ query: ActionQuery
    ) async throws(StoreFailure) -> [RecordedAction] {
        try await database.run { connection throws(PostgresError) in
            let rows = try connection.execute(
                .listActions,
                [
                    .text(query.customerID.text), .text(query.authorization?.rawValue),
                    .text(query.execution?.rawValue), .id(query.before), .int(query.limit),
                ])
            return try rows.map { row throws(PostgresError) in try ActionColumns(row).action() }
        }
    }

    package func payees(
        of customer: CustomerID, segment: String
    ) async throws(StoreFailure) -> [PayeeStanding] {
        let risk = RecordedRisk(segment: segment, signals: [], nameCheck: nil)
        return try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.activePolicy, []).single() else { return [] }
            let policy = try policies.policy(row)
            let rows = try connection.execute(
                .listPayees, [.text(customer.text), .text(policy.rules.homeCurrency.code)])
            return try rows.map { row throws(PostgresError) in try PayeeStanding(row, policy, risk)
            }
        }
    }
}

extension RecordedAction {
    /// How a reader sees it: expired as soon as its time has passed, whenever that is written.
    fileprivate func seen(at now: Instant) -> RecordedAction {
        authorization == .pending && expiresAt <= now
            ? with(authorization: .expired, execution: .none, hold: nil) : self
    }
}

extension PayeeStanding {
    fileprivate init(_ row: Row, _ policy: Policy, _ risk: RecordedRisk) throws(PostgresError) {
        let at: Instant = try row["now"]
        let state = try RecordedState(row, at: at, risk: risk, nil)
        guard let payee = state.payee else { throw .malformedColumn("payee_id") }
        let account = try word("account", row) { try? Account(text: $0) }
        let name = try word("name", row) { try? DisplayText($0, .payeeName) }
        self.init(
            id: payee.id, identity: PayeeIdentity(name: name, account: account),
            alias: try row["alias"],
            state: payee.usableAt > at ? .coolingOff : payee.isNew(at: at) ? .new : .established,
            usableAt: payee.usableAt, newUntil: payee.newUntil,
            allowance: policy.allowance(state))
    }
}
