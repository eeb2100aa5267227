import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport

/// An action with its live challenge.
struct Question: Sendable {
    let action: ID<Action>
    let challenge: ID<Challenge>
    let approve: Bytes
}

// What a customer's keys are for: actions, in the real store.
extension EnrolmentWorld {
    static let payee = "FR1420041010050500013M02606"

    func transfer(_ amount: String) throws -> ActionContent {
        .transfer(
            Transfer(
                amount: try Money(decimal: amount, currency: try Currency("EUR")),
                debtorAccount: try Account(iban: "DE89370400440532013000"),
                payee: try identity(Self.payee), reference: try DisplayText("", .reference),
                endToEndID: try DisplayText("", .endToEndID)))
    }

    func newPayee() throws -> ActionContent {
        .newPayee(
            NewPayee(
                payee: try identity("GB82WEST12345698765432"),
                alias: try DisplayText("", .payeeAlias)))
    }

    private func identity(_ iban: String) throws -> PayeeIdentity {
        PayeeIdentity(
            name: try DisplayText("Erika Mustermann", .payeeName), account: try Account(iban: iban))
    }

    /// Makes the payee of ``transfer(_:)`` an established one.
    func importPayee(_ customer: CustomerID) async throws {
        let administration = Administration(
            database: operations, sealer: sealer, keyEncryption: keyEncryption,
            entropy: .openSSL)
        let outcome = try await administration.importPayee(
            try identity(Self.payee), alias: try DisplayText("", .payeeAlias), of: customer)
        guard outcome == .imported else { throw Unexpected("the payee was there") }
    }

    func create(_ customer: CustomerID, _ content: ActionContent) async throws -> Question {
        let create = CreateAction(
            store: actions,
            issuer: ChallengeIssuer(
                audience: Self.relyingParty, entropy: .openSSL, sha256: .openSSL,
                requestOptions: { _, _, _ in .null }, paymentRequest: nil),
            sha256: .openSSL)
        let outcome = try await create(
            CreateActionCommand(
                client: client, customerID: customer, content: content, externalID: nil, risk: nil,
                idempotencyKey: Hex.encode(EntropySource.openSSL(8))))
        guard case .created(let answer, _) = outcome, let json = SignedJSON.decode(answer),
            let action = json["action"]?["id"]?.text.flatMap({ ID<Action>($0) }),
            let challenge = json["challenge"]?["id"]?.text.flatMap({ ID<Challenge>($0) }),
            let message = json["challenge"]?["messages"]?.bytes("approve")
        else { throw Unexpected("\(outcome)") }
        return Question(action: action, challenge: challenge, approve: message)
    }

    func approve(_ question: Question, _ phone: Phone) async throws -> DecisionOutcome {
        let decide = DecideAction(store: actions, verifier: verifier, sha256: .openSSL)
        return try await decide(
            DecideCommand(
                action: question.action, decision: .approve,
                proof: .signed(
                    challenge: question.challenge, try phone.sign(question.approve))))
    }

    func action(_ question: Question) async throws -> RecordedAction {
        guard let action = try await actions.action(question.action) else {
            throw Unexpected("no such action")
        }
        return action
    }

    /// Takes orders for delivery.
    ///
    /// - Returns: The actions of the orders that were taken.
    @discardableResult
    func claim(limit: Int = 100) async throws -> [ID<Action>] {
        let queue = PostgresDeliveryQueue(database: database, sealer: sealer)
        return try await queue.claim(limit: limit, lease: Seconds(600)).compactMap { claim in
            guard case .order(let order) = claim.item else { return nil }
            return order.actionID
        }
    }

    /// ``announce()`` for any number of keys.
    func announceAll() async throws {
        try await test.sql(
            "UPDATE countersign.credential_announcement SET settled_at = clock_timestamp()")
    }

    /// Tells core banking of all new keys, without which it gets none of their orders.
    func announce() async throws {
        let queue = PostgresDeliveryQueue(database: database, sealer: sealer)
        for claim in try await queue.claim(limit: 100, lease: Seconds(600)) {
            guard case .credential = claim.item, try await queue.settle(claim, .delivered) else {
                throw Unexpected("an announcement was not settled")
            }
        }
    }
}

extension DecisionOutcome {
    /// The action as it was decided.
    var action: RecordedAction? {
        if case .decided(let decision, _) = self { decision.action } else { nil }
    }
}
