import Countersign
import Postgres

extension Command {
    /// For a role in which fewer than two people are left, so that nobody can admit a key any more.
    static let personKeyRefound = Command(
        name: "person-key refound",
        summary: "Let the next keys of a role count at once, up to two people, for a day",
        options: [
            .init(
                name: "role", placeholder: "ROLE", what: "risk or officer", isRequired: true),
            Invocation.reasonOption,
        ],
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        guard let role = invocation.option("role").flatMap(PersonRole.init(rawValue:)) else {
            throw UsageError("--role is not risk or officer")
        }
        let reason = try invocation.reason()
        let outcome = try await invocation.configuration.administer { administration in
            try await administration.reopenFounding(of: role, reason: reason)
        }
        switch outcome {
        case .reopened(let closesAt):
            Console.out("the founding of \(role.rawValue) is open until \(closesAt.text)")
        case .enoughPeople:
            throw CommandFailure("two people of the role have active keys: they admit others")
        }
    }
}
