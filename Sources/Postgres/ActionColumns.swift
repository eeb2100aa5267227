import Countersign
import Evidence

/// Reads an action from the columns that `load_decision`, `read_action` and `list_actions` share.
struct ActionColumns {
    let id: ID<Action>
    /// `nil` when the columns are no values: somebody changed them behind the service's back.
    let content: ActionContent?
    private let customerID: CustomerID
    private let externalID: String?
    private let risk: RecordedRisk
    private let policyVersion: Int
    private let authorization: Authorization
    private let execution: Execution
    private let hold: Hold?
    private let createdAt: Instant
    private let expiresAt: Instant

    init(_ row: Row) throws(PostgresError) {
        id = try row["action_id"]
        customerID = try word("customer_id", row) { try? CustomerID($0) }
        externalID = try row["external_id"]
        let given: String? = try row["risk"]
        risk = RecordedRisk(given: given.flatMap { JSON(recorded: Bytes($0.utf8)) })
        policyVersion = try row["action_policy_version"]
        authorization = try word("authorization", row, Authorization.init)
        execution = try word("execution", row, Execution.init)
        // Shown only while it holds; that it once did is in evidence.
        hold =
            execution == .held ? try ActionColumns.hold(row) : nil
        createdAt = try row["created_at"]
        expiresAt = try row["expires_at"]
        content = try ActionColumns.content(row)
    }

    /// The action with the content that the columns hold, or another one where they hold none.
    ///
    /// - Throws: ``PostgresError/malformedColumn(_:)`` when there is no content at all.
    func action(
        orContent substitute: @autoclosure () -> ActionContent? = nil
    ) throws(PostgresError) -> RecordedAction {
        guard let content = content ?? substitute() else { throw .malformedColumn("content") }
        return RecordedAction(
            id: id, customerID: customerID, content: content, externalID: externalID,
            risk: risk, policyVersion: policyVersion, authorization: authorization,
            execution: execution,
            hold: hold, createdAt: createdAt, expiresAt: expiresAt)
    }

    /// Reads a hold from the columns `hold_until`, `hold_rule` and `hold_end`, with a prefix.
    static func hold(_ row: Row, prefix: String = "") throws(PostgresError) -> Hold? {
        guard let until: Instant = try row[prefix + "hold_until"] else { return nil }
        // Holds of before this column was there all end in a release.
        let end: String = try row[prefix + "hold_end"] ?? Hold.End.release.rawValue
        guard let end = Hold.End(rawValue: end) else { throw .malformedColumn("hold_end") }
        return Hold(
            until: until, rule: try word(prefix + "hold_rule", row, Hold.Rule.init), end: end)
    }

    static func content(_ row: Row) throws(PostgresError) -> ActionContent? {
        guard let kind = ActionKind(rawValue: try row["kind"]) else { return nil }
        var members: [String: String] = [:]
        for name in columns {
            if let text: String = try row[name] { members[name] = text }
        }
        return try? ActionContent(kind: kind, members: members)
    }

    /// The columns that hold members, of all kinds.
    private static let columns = [
        "amount", "currency", "debtor_account", "payee_name", "payee_account", "payee_alias",
        "reference", "end_to_end_id", "channel", "old_value_digest", "new_value", "limit_name",
    ]

    /// A new action's columns by name, as `create_action` takes them.
    static func json(of creation: ActionCreation) -> JSON {
        let action = creation.action
        var members: [JSON.Member] = [
            .init("id", .string(action.id.text)),
            .init("kind", .string(action.content.kind.rawValue)),
            .init("external_id", .optional(action.externalID)),
            .init("policy_version", .integer(Int64(action.policyVersion))),
            .init("created_at", .string(action.createdAt.text)),
            .init("expires_at", .string(action.expiresAt.text)),
            .init(
                "risk",
                .optional(creation.command.risk.map { String(decoding: $0.encoded, as: UTF8.self) })
            ),
        ]
        members += action.content.members.map { .init($0.key, .string($0.value)) }
        if let amount = action.content.amount {
            members.append(.init("amount_minor", .integer(amount.minorUnits)))
        }
        return .object(members)
    }
}

extension Challenge {
    /// Reads the challenge of a load; `nil` when the request named none of this action.
    init?(loaded row: Row) throws(PostgresError) {
        guard let id: ID<Challenge> = try row["challenge_id"] else { return nil }
        self.init(
            id: id, state: try word("challenge_state", row, State.init),
            failures: try row["challenge_failures"], nonce: try row["nonce"],
            approveMessage: try row["approve_message"], rejectMessage: try row["reject_message"],
            createdAt: try row["challenge_created_at"], expiresAt: try row["challenge_expires_at"])
    }

    /// A new challenge's columns by name, as the functions take them.
    var columns: JSON {
        [
            "id": .string(id.text),
            "nonce": .string(Hex.encode(nonce)),
            "approve_message": .string(Hex.encode(approveMessage)),
            "reject_message": .string(Hex.encode(rejectMessage)),
            "created_at": .string(createdAt.text),
            "expires_at": .string(expiresAt.text),
        ]
    }
}

/// Reads a column that holds a word of a closed set, or a value with a parser of its own.
func word<Value>(
    _ column: String, _ row: Row, _ read: (String) -> Value?
) throws(PostgresError) -> Value {
    guard let value = read(try row[column]) else { throw .malformedColumn(column) }
    return value
}
