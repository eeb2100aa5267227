import Glibc

extension Command {
    /// The service itself: any number of instances over one database.
    static let serve = Command(
        name: "serve", summary: "Run the service until SIGTERM, then let requests under way end",
        settings: [
            "database.url", "database.pool_size", "listen", "plain_http_allowed", "tls", "rp",
            "webauthn", "android", "apple",
            "payment", "development", "identity", "evidence", "privacy", "log", "promise", "core",
            "delivery",
            "events", "policy", "device_requests", "limits", "failpoint",
        ],
        required: [
            "database.url", "rp.id", "rp.name", "rp.origins", "evidence.origin",
            "evidence.key_encryption_key",
        ],
        check: { configuration throws(ConfigurationError) in try configuration.checkService() }
    ) { invocation in
        refuseCoreDumps()
        // Before anything is started, so that no signal finds its default action.
        let signals = await signalStream([SIGTERM, SIGINT])
        let service = try Service(invocation.configuration)
        try await service.checkDurability()
        try await service.checkKeyEncryption()
        await service.announcePromises()
        await service.run { for await _ in signals { break } }
    }
}
