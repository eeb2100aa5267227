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
        of customer: CustomerID
    ) async throws(StoreFailure) -> [PayeeStanding] {
        try await database.run { connection throws(PostgresError) in
            guard let row = try connection.execute(.activePolicy, []).single() else { return [] }
            let rules = try policies.policy(row).rules
            let rows = try connection.execute(
                .listPayees, [.text(customer.text), .text(rules.homeCurrency.code)])
            return try rows.map { row throws(PostgresError) in try PayeeStanding(row, rules) }
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
    fileprivate init(_ row: Row, _ rules: PolicyRules) throws(PostgresError) {
        let now: Instant = try row["now"]
        let payee = RecordedPayee(
            id: try row["id"], usableAt: try row["usable_at"], newUntil: try row["new_until"],
            firstExecutedAt: try row["first_executed_at"])
        let isNew = payee.isNew(at: now)
        let used: Int64 = try row["used_while_new"]
        let account = try word("account", row) { try? Account(text: $0) }
        let name = try word("name", row) { try? DisplayText($0, .payeeName) }
        self.init(
            id: payee.id, identity: PayeeIdentity(name: name, account: account),
            alias: try row["alias"],
            state: payee.usableAt > now ? .coolingOff : isNew ? .new : .established,
            usableAt: payee.usableAt, newUntil: payee.newUntil,
            maySend: isNew ? rules.maySend(used: used) : nil)
    }
}

extension PolicyRules {
    /// What may be sent to a new payee in the home currency, after `used` minor units.
    fileprivate func maySend(used: Int64) -> PayeeStanding.MaySend? {
        guard let limits = currencies[homeCurrency] else { return nil }
        let left = max(0, limits.newPayeeSumMax.minorUnits - used)
        return PayeeStanding.MaySend(
            single: Money(
                minorUnits: min(limits.firstTransferMax.minorUnits, left), currency: homeCurrency),
            sumLeft: Money(minorUnits: left, currency: homeCurrency))
    }
}
