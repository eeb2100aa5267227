import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport

@testable import CountersignMain

/// A bank of one test: a database, core banking and any number of instances of the service, each a
/// process of the real program.
final class TestBank: Sendable {
    private static let coreKeyID = "countersign-test"

    /// Keys, configuration, logs and core banking's journal.
    let folder: String
    let site: BankSite
    /// The API keys of the clients `backend`, `auditor` and `core`.
    let backendKey: String
    let auditorKey: String
    let coreAPIKey: String
    /// The database, as a superuser.
    let superuser: ConnectionInfo
    let core: CoreBankingProcess
    private let started: StartedProcesses
    let configuration: Configuration

    /// Where the log is copied to.
    var mirror: String { folder + "/mirror" }

    /// The file of the officers' keys that core banking reads; a test writes it.
    var officerKeys: String { folder + "/officers" }
    var configurationFile: String { folder + "/countersign.conf" }

    private init(
        folder: String, site: BankSite, superuser: ConnectionInfo, faults: String,
        started: StartedProcesses
    ) async throws {
        self.folder = folder
        self.site = site
        self.started = started
        self.superuser = superuser
        let coreKey = try Ed25519PrivateKey.generate()
        let files = [
            "kek": Hex.encode(EntropySource.openSSL(32)), "core.pem": coreKey.pem,
            "core.pub.pem": coreKey.publicKey.pem, "log.pem": try Ed25519PrivateKey.generate().pem,
            "promise.pem": try Ed25519PrivateKey.generate().pem,
        ]
        try FileManager.default.createDirectory(
            atPath: folder + "/mirror", withIntermediateDirectories: false)
        for (name, text) in files { try Self.write(text, to: folder + "/" + name) }
        core = CoreBankingProcess(
            arguments: [
                "core-banking", "--journal", folder + "/journal", "--service-key",
                folder + "/core.pub.pem", "--service-key-id", Self.coreKeyID, "--audience",
                site.relyingPartyID, "--officer-keys", folder + "/officers",
            ], folder: folder, started: started)
        let port = try await core.start(faults: faults)
        var lines = Self.settings(folder, site)
        lines["core.url"] = "http://127.0.0.1:\(port)/executions"
        lines["core.signing_key"] = folder + "/core.pem"
        lines["core.signing_key_id"] = Self.coreKeyID
        lines["database.url"] =
            superuser.replacing(["user": "countersign_service"])
            .text
        let text = lines.map { "\($0.key) = \($0.value)\n" }.sorted().joined()
        try Self.write(text, to: folder + "/countersign.conf")
        configuration = try Self.operatorConfiguration(folder, superuser)
        let keys = try await Self.addClients(configuration)
        (backendKey, auditorKey, coreAPIKey) = (keys[0], keys[1], keys[2])
        try await recordPolicies()
    }

    /// What `countersign migrate` does beside the migration, in development.
    func recordPolicies() async throws {
        var administrator = configuration
        administrator.database.url = Redacted(superuser.text)
        try await administrator.administer { administration in
            try await administration.recordInstallation()
            guard try await administration.recordPolicies() == [] else {
                throw Unexpected("a policy was not recorded")
            }
        }
    }

    private static func settings(_ folder: String, _ site: BankSite) -> [String: String] {
        [
            "rp.id": site.relyingPartyID, "rp.name": "Test Bank", "rp.origins": site.origin,
            "development": "true", "listen.port": "0", "database.pool_size": "4",
            "evidence.origin": "bank.example/log", "evidence.key_encryption_key": folder + "/kek",
            "log.key": folder + "/log.pem", "log.tick_milliseconds": "250",
            "promise.key": folder + "/promise.pem",
            "log.mirror": folder + "/mirror",
        ]
    }

    private static func operatorConfiguration(
        _ folder: String, _ superuser: ConnectionInfo
    ) throws -> Configuration {
        var configuration = Configuration()
        configuration.development = true
        configuration.database.url = Redacted(
            superuser.replacing(["user": "countersign_operator"]).text)
        configuration.database.poolSize = 1
        configuration.evidence.origin = "bank.example/log"
        configuration.evidence.keyEncryptionKey = FilePath(text: folder + "/kek")
        return configuration
    }

    private static func addClients(
        _ configuration: Configuration
    ) async throws -> [String] {
        let roles: [AuthenticatedClient.Role] = [.backend, .auditor, .core]
        let keys = roles.map { APIKey.make(for: $0) }
        try await configuration.administer { administration in
            for (role, key) in zip(roles, keys) {
                _ = try await administration.addClient(
                    ID(at: systemTime(), random: EntropySource.openSSL(10)), name: role.rawValue,
                    role: role, keyDigest: sha256(Bytes(key.utf8)), subjectAlternativeName: nil)
            }
        }
        return keys
    }

    static func write(_ text: String, to path: String, mode: Int = 0o600) throws {
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        else { throw Unexpected("cannot write \(path)") }
    }

    /// Sets a bank up, and leaves nothing of it behind.
    ///
    /// - Parameters:
    ///   - site: Where its customers use passkeys.
    ///   - superuser: A migrated database of its own.
    ///   - faults: What goes wrong at core banking, as `--faults` takes it.
    ///   - body: The test.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or why there is no bank.
    static func open<Result>(
        _ site: BankSite = .example, on superuser: ConnectionInfo, faults: String = "",
        _ body: (TestBank) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-bank-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let started = StartedProcesses()
        do {
            let result = try await body(
                TestBank(
                    folder: folder, site: site, superuser: superuser, faults: faults,
                    started: started))
            await started.end()
            return result
        } catch {
            await started.end()
            throw error
        }
    }

    // MARK: What the operator does

    /// Starts an instance of the service.
    ///
    /// - Parameter flags: Settings beside those of the file, such as `["--failpoint", "…"]`.
    /// - Returns: The instance, which listens.
    /// - Throws: ``ServiceProcess/Failure`` with the end of its log.
    func serve(_ flags: String...) async throws -> ServiceInstance {
        try await serve(flags)
    }

    /// As above; `clock` is by how much the instance's clock is off, such as `+600s`.
    func serve(_ flags: [String], clock: String? = nil) async throws -> ServiceInstance {
        let process = try ServiceProcess(
            "serve-\(await started.number())",
            words: (clock.map { ["/usr/bin/faketime", "-f", $0] } ?? [])
                + [ServiceProcess.program().path, "serve", "--config", configurationFile] + flags,
            in: folder)
        await started.add(process)
        return ServiceInstance(process: process, port: try await process.listening(), bank: self)
    }

    /// Runs a command of the program to its end.
    func run(_ arguments: [String], as role: String) async throws -> (
        ServiceProcess.Ending, String
    ) {
        let process = try ServiceProcess(
            "run-\(await started.number())",
            arguments + [
                "--config", configurationFile, "--database-url",
                superuser.replacing(["user": role]).text,
            ], in: folder)
        await started.add(process)
        return (try await process.ending(), process.text)
    }

    /// Runs the command that needs neither database nor configuration.
    ///
    /// - Parameters:
    ///   - file: The bundle.
    ///   - trust: The trust policy.
    ///   - timestampCA: The certificates of timestamp authorities; `nil` leaves the option out.
    /// - Returns: How it ended, and what it said.
    /// - Throws: ``ServiceProcess/Failure``.
    func verifyBundle(
        _ file: String, _ trust: String, timestampCA: String? = nil
    ) async throws -> (ServiceProcess.Ending, String) {
        let process = try ServiceProcess(
            "run-\(await started.number())",
            ["evidence", "verify-bundle", file, "--trust", trust]
                + (timestampCA.map { ["--timestamp-ca", $0] } ?? []), in: folder)
        await started.add(process)
        return (try await process.ending(), process.text)
    }

    /// Flags by which a command works as the operator.
    var operating: [String] {
        [
            "--config", configurationFile, "--database-url",
            superuser.replacing(["user": "countersign_operator"]).text,
        ]
    }

    /// Does an operator's act in this process, which is quicker than a process for each.
    func administer(_ act: (Administration) async throws -> Void) async throws {
        try await configuration.administer(act)
    }
}

/// Where a bank's customers use their passkeys: `rp.id` and `rp.origins`.
struct BankSite: Sendable {
    let relyingPartyID: String
    let origin: String

    static let example = BankSite(
        relyingPartyID: "bank.example", origin: "https://bank.example")
}

/// Gives `body` a bank on a database of its own.
func withBank<Result>(
    _ site: BankSite = .example, faults: String = "", _ body: (TestBank) async throws -> Result
) async throws -> Result {
    try await withDatabase { database in
        try await TestBank.open(site, on: database.superuser, faults: faults, body)
    }
}

/// Processes to end with the bank.
actor StartedProcesses {
    private var processes: [ServiceProcess] = []
    private var count = 0

    func number() -> Int {
        count += 1
        return count
    }

    func add(_ process: ServiceProcess) { processes.append(process) }

    func end() async {
        for process in processes { process.signal(SIGKILL) }
        // Each was killed, so the wait is short; what is thrown says no more.
        for process in processes { _ = try? await process.ending() }
        processes = []
    }
}

/// The stand-in for core banking as a process, which comes back on the same port with the same books.
actor CoreBankingProcess {
    private let arguments: [String]
    private let folder: String
    private let started: StartedProcesses
    private(set) var port: UInt16 = 0
    private(set) var process: ServiceProcess?
    private var starts = 0

    init(arguments: [String], folder: String, started: StartedProcesses) {
        self.arguments = arguments
        self.folder = folder
        self.started = started
    }

    @discardableResult func start(
        faults: String = "", eventFaults: String = "", holdClockAhead: Seconds = Seconds(0)
    ) async throws -> UInt16 {
        starts += 1
        let process = try ServiceProcess(
            "core-\(starts)",
            arguments + ["--listen-port", String(port)]
                + ["--hold-clock-ahead", String(holdClockAhead.count)]
                + (faults.isEmpty ? [] : ["--faults", faults])
                + (eventFaults.isEmpty ? [] : ["--event-faults", eventFaults]), in: folder)
        self.process = process
        await started.add(process)
        port = try await process.listening()
        return port
    }

    /// Waits until it has ended, by a fault or by a signal that is sent first.
    func ending(after signal: Int32? = nil) async throws -> ServiceProcess.Ending? {
        if let signal { process?.signal(signal) }
        return try await process?.ending()
    }
}
