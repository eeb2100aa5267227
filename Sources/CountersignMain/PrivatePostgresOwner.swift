import Foundation

/// The user that Postgres runs as: this one, or an unprivileged one when this is root, because
/// Postgres refuses to run as root.
struct PrivatePostgresOwner: Sendable {
    let user: UInt32
    let group: UInt32
    /// Whether programs must be started as another user than this process's.
    let isAnother: Bool

    /// - Throws: ``PrivatePostgresFailure`` when this is root and there is no user to become.
    static func forThisProcess() throws(PrivatePostgresFailure) -> PrivatePostgresOwner {
        if geteuid() != 0 {
            return PrivatePostgresOwner(user: geteuid(), group: getegid(), isAnother: false)
        }
        let accounts: String
        do {
            accounts = try String(contentsOfFile: "/etc/passwd", encoding: .utf8)
        } catch {
            throw PrivatePostgresFailure("cannot read /etc/passwd")
        }
        for name in ["postgres", "nobody"] {
            for line in accounts.split(separator: "\n") {
                let fields = line.split(separator: ":", omittingEmptySubsequences: false)
                guard fields.count == 7, fields[0] == name, let user = UInt32(fields[2]),
                    let group = UInt32(fields[3]), user != 0
                else { continue }
                return PrivatePostgresOwner(user: user, group: group, isAnother: true)
            }
        }
        throw PrivatePostgresFailure("no user `postgres` or `nobody` to run Postgres as")
    }
}
