import Countersign
import Crypto
import Foundation
import Postgres

/// A bank to measure: a durable private Postgres, the service as a process of its own, customers.
struct BenchBank: Sendable {
    let participants: Participants
    let database: BenchDatabase
    let load: Load
    /// The risk team's client.
    let risk: APIClient
    let auditor: APIClient
    private let base: String

    /// Customers of each connection: as many as keep one customer's history short in a long run.
    static let customersPerLane = 50

    /// Sets everything up, with customers enrolled through the API.
    ///
    /// - Throws: ``CommandFailure`` or ``PrivatePostgresFailure``; what was started keeps running.
    static func open(
        home: DemoHome, processes: Processes, lanes: Int
    ) async throws -> BenchBank {
        let database = BenchDatabase(base: try DemoDatabase(at: home.directory))
        try await database.base.startFresh()
        try writeConfiguration(home, database.base)
        let tools = Tools(home: home, processes: processes, database: database.base)
        let admin = ["migrate", "--database-admin-url", try database.base.url(as: "postgres")]
        _ = try await tools.run(admin)
        try await database.run(liberalPolicy)
        // A second time, so that the policy's publication is recorded like any other.
        _ = try await tools.run(admin)
        let key = try await tools.run(
            ["client", "add", "bench", "--role", "backend"], as: "countersign_operator")
        let riskKey = try await tools.run(
            ["client", "add", "bench-risk", "--role", "risk"], as: "countersign_operator")
        let auditorKey = try await tools.run(
            ["client", "add", "bench-auditor", "--role", "auditor"], as: "countersign_operator")
        let port = try await processes.serve("serve", ["serve", "--config", home.configuration])
        let base = "http://127.0.0.1:\(port)"
        let all = try await enrol(base: base, key: key, lanes: lanes)
        try await importPayees(of: all.flatMap(\.customers), home, tools)
        guard let service = await processes.id(of: "serve"),
            let postgres = database.base.server.places.recordedServer()
        else { throw CommandFailure("the service or Postgres has no process") }
        return BenchBank(
            participants: Participants(service: service, postgres: postgres), database: database,
            load: Load(lanes: all), risk: try APIClient(base: base, key: riskKey),
            auditor: try APIClient(base: base, key: auditorKey), base: base)
    }

    /// The service's metrics, as Prometheus reads them.
    ///
    /// - Throws: ``CommandFailure``.
    func metrics() async throws -> String {
        String(decoding: try await auditor.get("/metrics").body, as: UTF8.self)
    }

    /// Version 1 with a daily maximum that no run reaches.
    private static let liberalPolicy = """
        INSERT INTO countersign.policy (version, time_zone, active_from, document)
        SELECT version + 1, time_zone, clock_timestamp(),
               convert_to(jsonb_set(convert_from(document, 'UTF8')::jsonb,
                   '{currencies,EUR,daily_max}', '"9999999999.00"')::text, 'UTF8')
          FROM countersign.policy ORDER BY version DESC LIMIT 1
        """

    /// Without `core.url`: nothing is delivered, so that service and `pgbench` do the same work. Without
    /// an identity system, so that a first key needs no voucher.
    private static func writeConfiguration(
        _ home: DemoHome, _ database: DemoDatabase
    ) throws(CommandFailure) {
        let keyFile = home.run + "/key-encryption-key"
        try home.write(Hex.encode(EntropySource.openSSL(32)) + "\n", to: keyFile)
        do {
            try home.write(try Ed25519PrivateKey.generate().pem, to: home.run + "/log-key.pem")
        } catch { throw CommandFailure("the log's key cannot be made") }
        try home.write(
            """
            database.url = \(try database.url(as: "countersign_service"))
            listen.port = 0
            rp.id = \(DemoHome.relyingPartyID)
            rp.name = Bench Bank
            rp.origins = \(DemoHome.origin)
            evidence.origin = countersign.bench/1
            evidence.key_encryption_key = \(keyFile)
            log.key = \(home.run)/log-key.pem
            development = true
            limits.drain_seconds = 2

            """, to: home.configuration)
    }

    private static func enrol(base: String, key: String, lanes: Int) async throws -> [Load.Lane] {
        try await withThrowingTaskGroup(of: (Int, Load.Lane).self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    let bank = try BankClient(base: base, key: key)
                    var customers: [BenchCustomer] = []
                    for number in 0..<customersPerLane {
                        customers.append(
                            try await bank.enrolForBench("bench-\(lane)-\(number)"))
                    }
                    let caller = try Caller(base: base, key: key)
                    return (lane, Load.Lane(caller: caller, customers: customers))
                }
            }
            var all: [(Int, Load.Lane)] = []
            for try await lane in group { all.append(lane) }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func importPayees(
        of customers: [BenchCustomer], _ home: DemoHome, _ tools: Tools
    ) async throws {
        let lines = customers.map { customer -> Bytes in
            let line: JSON = [
                "customer_id": .string(customer.id), "name": .string(Cast.knownName),
                "account": ["iban": .string(Cast.knownAccount)], "alias": "",
            ]
            return line.encoded + [UInt8(ascii: "\n")]
        }
        try home.write(Bytes(lines.joined()), to: home.payees)
        _ = try await tools.run(["payee", "import", home.payees], as: "countersign_operator")
    }
}

extension BankClient {
    /// Enrols a new device key for a customer.
    fileprivate func enrolForBench(_ customer: String) async throws -> BenchCustomer {
        let phone = try SoftwarePhone(
            relyingPartyID: DemoHome.relyingPartyID, origin: DemoHome.origin)
        let answer = try await enrolDeviceKey(of: phone, for: customer, vouchedBy: nil)
        guard let credential = answer.text("credential", "id") else {
            throw CommandFailure(
                "a key cannot be enrolled: \(answer.status) \(answer.problem ?? "")")
        }
        return BenchCustomer(id: customer, credential: credential, key: phone.deviceKey)
    }
}
