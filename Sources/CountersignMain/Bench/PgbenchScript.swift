import Countersign
import Postgres

/// Scripts for `pgbench` of the very statements that the service sends.
enum PgbenchScript {
    /// One flow: its four statements, each a transaction of its own, as in the service.
    ///
    /// - Parameter customers: How many customers each client has to itself.
    /// - Returns: The script.
    /// - Throws: ``CommandFailure`` when a statement was changed, and this was not.
    static func flow(customers: Int) throws(CommandFailure) -> String {
        let d = { (name: String) in ":d_" + name }
        return [
            generation(customers: customers),
            try command(
                .loadCreation,
                [":customer_id", ":client", ":route", ":key", ":account", ":currency"], into: "c_"),
            try command(
                .createAction,
                [
                    ":c_subject_id", ":client", ":route", ":key", ":fingerprint", ":answer",
                    ":open_max", ":action", ":challenge", ":creation",
                ], into: "s_"),
            try command(
                .loadDecision, [":action_id", ":challenge_id", ":credential_id", "NULL"],
                into: "d_"),
            // NULL stands where the service sends one: a variable of pgbench cannot be NULL.
            try command(
                .approveAction,
                [
                    d("subject_id"), d("customer_version"), d("policy_version"), ":action_id",
                    d("action_seq"), ":challenge_id", ":credential_id", d("credential_seq"),
                    d("now"), ":message", ":signature", "NULL", "NULL", ":digest", "0", "false",
                    d("bank_day"), "NULL", "NULL", "NULL", ":dimensions", ":windows", ":amounts",
                    ":caps", "NULL", "NULL", "false", "NULL", "NULL", ":inputs", ":approval",
                ], into: "s_"),
        ].joined()
    }

    /// Only what makes the parameters of one flow, to know what that costs.
    static func generation(customers: Int) -> String {
        """
        \\set n :client_id * \(customers) + random(0, \(customers - 1))
        SELECT * FROM bench.flow(:n) \\gset

        """
    }

    /// A statement of the service with other words for its parameters.
    ///
    /// - Parameters:
    ///   - statement: One of the service's.
    ///   - arguments: What stands for `$1`, `$2` and so on; each has to occur.
    ///   - prefix: Begins the names of the variables that take the columns of its row.
    /// - Returns: A command of the script.
    /// - Throws: ``CommandFailure`` when the statement takes other parameters.
    static func command(
        _ statement: Statement, _ arguments: [String], into prefix: String
    ) throws(CommandFailure) -> String {
        var sql = statement.sql.split(separator: "\n")
            .filter { !$0.drop(while: { $0 == " " }).hasPrefix("--") }
            .joined(separator: "\n")
        guard sql.last == ";" else { throw CommandFailure("\(statement.name) has no end") }
        sql.removeLast()
        var used: Set<Int> = []
        var output = ""
        var rest = sql[...]
        while let dollar = rest.firstIndex(of: "$") {
            let digits = rest[rest.index(after: dollar)...].prefix(while: \.isNumber)
            guard let number = Int(digits), (1...arguments.count).contains(number) else {
                throw CommandFailure("\(statement.name) has a parameter that bench does not know")
            }
            used.insert(number)
            output += rest[..<dollar] + arguments[number - 1]
            rest = rest[digits.endIndex...]
        }
        guard used.count == arguments.count else {
            throw CommandFailure("\(statement.name) lacks a parameter that bench gives")
        }
        return output + rest + " \\gset \(prefix)\n"
    }
}

/// What `pgbench` says at its end.
struct PgbenchResult: Sendable, Equatable {
    /// Transactions in pgbench's sense, each one run of the script: here, flows.
    let flows: Int
    let perSecond: Double
    let failed: Int

    /// Reads its report; `nil` when something is missing, because it did not come to its end.
    init?(report: String) {
        func number(after label: String) -> Double? {
            guard let line = report.split(separator: "\n").first(where: { $0.hasPrefix(label) })
            else { return nil }
            return Double(
                line.dropFirst(label.count).drop(while: { $0 == " " })
                    .prefix(while: { $0.isNumber || $0 == "." }))
        }
        guard let flows = number(after: "number of transactions actually processed:"),
            let failed = number(after: "number of failed transactions:"),
            let perSecond = number(after: "tps =")
        else { return nil }
        self.flows = Int(flows)
        self.failed = Int(failed)
        self.perSecond = perSecond
    }
}
