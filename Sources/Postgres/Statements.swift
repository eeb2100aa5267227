package import Countersign

/// One SQL statement with the name under which each connection prepares it once.
package struct Statement: Sendable {
    /// What a lost connection means for it.
    package enum Kind: Sendable {
        /// Changes nothing, not even through a function: it may be sent again.
        case read
        /// May change something: once sent, a lost answer is an unknown outcome.
        case write
    }

    /// The name of its file in `sql/queries` without the ending; unique.
    package let name: String
    package let kind: Kind
    package let sql: String

    /// - Parameters:
    ///   - name: The name of its file; two statements must not share one.
    ///   - kind: `.write` when in doubt.
    ///   - sql: One statement as UTF-8, as embedded from `sql/queries`.
    package init(_ name: String, _ kind: Kind, _ sql: Bytes) {
        precondition(name.utf8.count < 64, "the server cuts names off at 63 bytes")
        self.name = name
        self.kind = kind
        self.sql = String(decoding: sql, as: UTF8.self)
    }
}

extension Statement {
    /// Tells whether the database answers.
    package static let ping = Statement("ping", .read, PackageResources.ping_sql)
    static let durability = Statement("durability", .read, PackageResources.durability_sql)
    /// What every session relies on when it reads the server's text; a script.
    static let sessionSettings = Statement(
        "session_settings", .write, PackageResources.session_settings_sql)

    static let migrationTable = Statement(
        "migration_table", .write, PackageResources.migration_table_sql)
    static let migrationLock = Statement(
        "migration_lock", .read, PackageResources.migration_lock_sql)
    static let migrationList = Statement(
        "migration_list", .read, PackageResources.migration_list_sql)
    static let migrationRecord = Statement(
        "migration_record", .write, PackageResources.migration_record_sql)
    static let migrationReset = Statement(
        "migration_reset", .write, PackageResources.migration_reset_sql)
}
