import Countersign
import Crypto
import Foundation

/// A bank on this machine: database, service, core banking and callers, each as in production.
struct DemoBank: Sendable {
    let home: DemoHome
    let processes: Processes
    let database: DemoDatabase
    /// The base of the service's URLs.
    let base: String
    /// One key per role, as `client add` printed them.
    let keys: [String: String]
    let backend: BankClient
    let auditor: APIClient
    let identity: IdentitySystem
    /// Who everything happened to, for the end of the story.
    static let customer = "c-1001"

    /// Sets everything up and waits until the service is ready.
    ///
    /// - Parameters:
    ///   - home: Where keys, configuration and logs go.
    ///   - processes: Runs the servers.
    ///   - database: Where the data goes.
    ///   - say: Told each thing that was done.
    /// - Returns: The bank, open for business.
    /// - Throws: ``CommandFailure`` or ``PrivatePostgresFailure``; what was started keeps running.
    static func open(
        home: DemoHome, processes: Processes, database: DemoDatabase, say: (String) -> Void
    ) async throws -> DemoBank {
        try await database.startFresh()
        let identity = IdentitySystem(key: try home.makeKeys())
        say("made the keys: key-encryption key, order-signing key, and the identity system's own")
        let core = try await processes.serve(
            "core-banking",
            [
                "core-banking", "--journal", home.journal, "--service-key", home.corePublicKey,
                "--service-key-id", DemoHome.coreKeyID, "--audience", DemoHome.relyingPartyID,
                "--listen-port", "0",
            ])
        say("started core banking on 127.0.0.1:\(core); it keeps its own register of keys")
        try home.writeConfiguration(
            database: try database.url(as: "countersign_service"), corePort: core)
        let tools = Tools(home: home, processes: processes, database: database)
        _ = try await tools.run(
            ["migrate", "--database-admin-url", try database.url(as: "postgres")])
        say("migrated a new database, in a Postgres that listens on no port")
        let keys = try await tools.addClients()
        for (role, key) in keys.sorted(by: { $0.key < $1.key }) {
            say("added the client demo-\(role): \(key)")
        }
        let port = try await processes.serve("serve", ["serve", "--config", home.configuration])
        let base = "http://127.0.0.1:\(port)"
        try await waitUntilReady(base)
        say("started the service on \(base); /readyz says ready")
        return DemoBank(
            home: home, processes: processes, database: database, base: base, keys: keys,
            backend: try BankClient(base: base, key: keys["backend"] ?? ""),
            auditor: try APIClient(base: base, key: keys["auditor"]), identity: identity)
    }

    /// Commands of this program on the demo's database.
    var tools: Tools { Tools(home: home, processes: processes, database: database) }

    private static func waitUntilReady(_ base: String) async throws {
        let anybody = try APIClient(base: base, key: nil)
        for _ in 0..<500 {
            if try await anybody.get("/readyz").status == 200 { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw CommandFailure("the service is not ready after 10 s")
    }
}

/// Commands of this program, run as an operator runs them.
struct Tools: Sendable {
    let home: DemoHome
    let processes: Processes
    let database: DemoDatabase

    /// Runs a command with the demo's configuration; what it prints is returned.
    ///
    /// - Throws: ``CommandFailure`` with its output when it fails.
    func run(_ arguments: [String], as role: String? = nil) async throws -> String {
        var arguments = arguments + ["--config", home.configuration]
        if let role { arguments += ["--database-url", try database.url(as: role)] }
        let output = try await processes.run(arguments)
        guard output.status == 0 else {
            throw CommandFailure("\(arguments[0]) failed with \(output.status): \(output.text)")
        }
        return output.text
    }

    /// Adds a client for each role that the story needs.
    func addClients() async throws -> [String: String] {
        var keys: [String: String] = [:]
        for role in ["backend", "auditor", "operator"] {
            keys[role] = try await run(
                ["client", "add", "demo-\(role)", "--role", role], as: "countersign_operator")
        }
        return keys
    }

    /// Imports a payee that a customer confirmed before this service existed.
    func importPayee(_ payee: JSON) async throws -> String {
        try home.write(payee.encoded + Bytes("\n".utf8), to: home.payees)
        return try await run(["payee", "import", home.payees], as: "countersign_operator")
    }
}
