extension Command {
    /// Brings the schema forward; safe to run again and beside a running service.
    static let migrate = Command(
        name: "migrate", summary: "Bring the database's schema to the version of this build",
        settings: ["database.admin_url", "development"], required: ["database.admin_url"]
    ) { _ in
        throw CommandFailure.notInThisBuild
    }
}
