import Countersign
import Postgres

extension Command {
    /// For a person who has left, or has lost the key that would be needed.
    static let personKeyRevoke = Command(
        name: "person-key revoke", summary: "Revoke a key of a person of the roles risk or officer",
        positionals: [.init(name: "KEY", what: "its ID")],
        options: [Invocation.reasonOption],
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        guard let key = ID<PersonKey>(invocation.positionals[0]) else {
            throw UsageError("KEY is not an ID")
        }
        let reason = try invocation.reason()
        let isRevoked = try await invocation.configuration.administer { administration in
            try await administration.revokePersonKey(key, reason: reason)
        }
        guard isRevoked else { throw CommandFailure("there is no such key, or it is revoked") }
        Console.out("revoked \(key)")
    }
}

extension Invocation {
    /// Of an operator's act that has to say why.
    static let reasonOption = Command.Option(
        name: "reason", placeholder: "TEXT", what: "why; it becomes evidence", isRequired: true)

    /// - Throws: ``UsageError`` for a reason that cannot be shown.
    func reason() throws(UsageError) -> DisplayText {
        do throws(InvalidValue) { return try DisplayText(option("reason") ?? "", .reason) } catch {
            throw UsageError("--reason: \(error.detail)")
        }
    }
}
