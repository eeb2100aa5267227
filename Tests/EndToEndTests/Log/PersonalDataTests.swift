import Countersign
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// What never leaves the bodies: names, accounts, amounts, contact data and the bank's own IDs.
@Suite(.onAThreadOfItsOwn) struct `The log of a bank` {
    /// Everything that the database has in the clear of customers and their actions, so that no column is forgotten
    /// here; of words shorter than this, such as a currency's, random bytes would have some.
    private static let lengthMin = 6
    private static let columns = [
        "customer": ["customer_id"],
        "action": [
            "external_id", "debtor_account", "payee_name", "payee_account", "payee_alias",
            "reference", "end_to_end_id", "new_value", "risk::text",
        ],
        "payee": ["name", "account", "alias"],
        "credential": ["label"],
    ]

    private func secrets(_ bank: TestBank) async throws -> [String] {
        var found: Set<String> = ["+4915112345678"]
        for (table, columns) in Self.columns {
            for column in columns {
                for row in try await bank.sql(
                    "SELECT DISTINCT \(column) AS value FROM countersign.\(table)")
                {
                    if let value: String = try row["value"] { found.insert(value) }
                }
            }
        }
        return found.filter { $0.utf8.count >= Self.lengthMin }.sorted()
    }

    /// The data of tables, as a backup has it.
    private func dump(_ tables: [String], of bank: TestBank) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: PrivatePostgresTools.programs + "/pg_dump")
        process.arguments =
            ["--data-only", "--dbname", bank.superuser.text]
            + tables.map { "--table=countersign.\($0)" }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return data
    }

    private func mirror(_ bank: TestBank) throws -> Data {
        var all = Data()
        for path in try FileManager.default.subpathsOfDirectory(atPath: bank.mirror)
        where path.contains("tile/") || path == "checkpoint" {
            all += FileManager.default.contents(atPath: bank.mirror + "/" + path) ?? Data()
        }
        return all
    }

    /// A customer of whom there is something everywhere: a payment that was executed, and a change of contact data
    /// that the customer did not want.
    private func live(_ bank: TestBank, _ instance: ServiceInstance) async throws -> String {
        let customer = try await bank.customer("c-canary-4711", at: instance)
        let paid = try await InsistentClient(Shift(instance)).pay(
            from: customer, key: "canary-reference-1")
        let backend = try instance.backend()
        let change = try await backend.create(BankCustomer.contactChange(of: customer.id))
        #expect(change.status == 201)
        let question = try #require(change.question)
        let rejected = try await backend.reject(
            question.action,
            try customer.phone.answer(
                question.challenge, over: question.reject, as: customer.credential))
        #expect(rejected.status == 200)
        try await until("it is executed") {
            try await backend.action(paid.action).text("action", "execution") == "executed"
        }
        try await bank.auditLog([paid.evidence])
        try await bank.expectMirror()
        return paid.evidence
    }

    private func found(_ secrets: [String], in data: Data) -> [String] {
        secrets.filter { data.range(of: Data($0.utf8)) != nil }
    }

    @Test func `names no customer in leaves, tiles, dumps of evidence and lines for operators`()
        async throws
    {
        try await withBank { bank in
            let instance = try await bank.serve()
            _ = try await live(bank, instance)
            let secrets = try await secrets(bank)
            // Else the test looks for what was never there.
            for one in ["c-canary-4711", "canary-reference-1", "+4915187654321", Cast.knownName] {
                #expect(secrets.contains(one), "\(one)")
            }
            #expect(found(secrets, in: try dump(["*"], of: bank)).count > 5)
            let files = try mirror(bank)
            #expect(files.range(of: Data("countersign/leaf/1".utf8)) != nil)
            let places = [
                "mirror": files,
                "dump": try dump(["evidence*", "log_*", "decision", "subject_key"], of: bank),
                "log": Data(instance.process.text.utf8),
            ]
            for (place, data) in places { #expect(found(secrets, in: data) == [], "\(place)") }
        }
    }

    /// F23 of the fault tests.
    @Test func `has a dump without a word of a customer who was erased, and every proof`()
        async throws
    {
        try await withBank { bank in
            let instance = try await bank.serve(bank.erasing)
            let evidence = try await live(bank, instance)
            // Core banking's own words are in nobody's receipt twice.
            let secrets = try await secrets(bank)
            let officer = try await instance.privacy()
            #expect(
                try await officer.post("/v1/customers/c-canary-4711/erasure", [:]).status == 200)
            #expect(found(secrets, in: try dump(["*"], of: bank)) == [])
            try await bank.auditLog([evidence])
        }
    }

    /// F23, in the files below the dump: what a disk or a base backup has.
    @Test func `has no data file with a word of an erased customer, once tables are rewritten`()
        async throws
    {
        try await withOwnPostgres { server in
            try await TestBank.open(on: try ConnectionInfo(server.url)) { bank in
                let instance = try await bank.serve(bank.erasing)
                let evidence = try await live(bank, instance)
                let secrets = try await secrets(bank)
                // As autovacuum does: statistics quote what is frequent.
                for command in ["ANALYZE", "CHECKPOINT"] { try await bank.sql(command) }
                #expect(try found(secrets, below: server).count > 5)
                let officer = try await instance.privacy()
                #expect(
                    try await officer.post("/v1/customers/c-canary-4711/erasure", [:]).status == 200
                )
                try await bank.auditLog([evidence])
                _ = try await instance.process.ended()
                for command in ["VACUUM", "CHECKPOINT"] { try await bank.sql(command) }
                // Dead row versions are free space by now, and not overwritten.
                print("after VACUUM alone files have \(try found(secrets, below: server))")
                // ANALYZE leaves the statistics of a table without rows as they are; no bank's is.
                let emptied = """
                    DELETE FROM pg_statistic s USING pg_class c
                     WHERE c.oid = s.starelid AND c.reltuples = 0
                    """
                for command in ["ANALYZE", emptied, "VACUUM FULL", "CHECKPOINT"] {
                    try await bank.sql(command)
                }
                #expect(try found(secrets, below: server) == [])
            }
        }
    }

    @Test func `has bodies in the write-ahead log only encrypted, and actions in the clear`()
        async throws
    {
        try await withOwnPostgres { server in
            try await TestBank.open(on: try ConnectionInfo(server.url)) { bank in
                let instance = try await bank.serve()
                let evidence = try await live(bank, instance)
                let answer = try await instance.auditor().get("/v1/evidence/\(evidence)/bundle")
                let bundle = try #require(EvidenceBundle(decoding: answer.body))
                let bodies = bundle.entries.values.compactMap { $0.body?.bytes }
                #expect(bodies.count >= 4)
                let ciphertexts: [Bytes] = try await bank.sql(
                    "SELECT ciphertext FROM countersign.evidence_body"
                ).map { try $0["ciphertext"] }
                let log = try files(in: server.places.data + "/pg_wal")
                func has(_ bytes: some Sequence<UInt8>) -> Bool {
                    log.contains { $0.range(of: Data(bytes)) != nil }
                }
                // A page of the write-ahead log may part one of them, not all.
                #expect(ciphertexts.count { has($0) } > ciphertexts.count / 2)
                for body in bodies { #expect(!has(body) && !has(body.prefix(64))) }
                // What stands in bodies alone: the signature.
                let approved = try #require(bundle.entries[.approved]?.body)
                let text = String(decoding: approved.bytes, as: UTF8.self)
                let signature = try #require(
                    text.firstMatch(of: /"signature":"([A-Za-z0-9_-]{80,})"/))
                #expect(!has(signature.1.utf8))
                // The action's own columns, and what a policy looked at, are in the clear.
                #expect(has("canary-reference-1".utf8) && has("c-canary-4711".utf8))
                #expect(has("transfers_in_window".utf8))
            }
        }
    }

    /// The contents of all files in a folder, without those in folders below.
    private func files(in folder: String) throws -> [Data] {
        try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
            FileManager.default.contents(atPath: folder + "/" + $0)
        }
    }

    /// Which of them are in a data file of any database of a server.
    private func found(_ secrets: [String], below server: PrivatePostgres) throws -> [String] {
        var found: Set<String> = []
        for folder in ["base", "global", "pg_xact", "pg_multixact", "pg_stat"] {
            let path = server.places.data + "/" + folder
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                let data = FileManager.default.contents(atPath: path + "/" + name) ?? Data()
                let here = self.found(secrets, in: data)
                found.formUnion(here)
            }
        }
        return found.sorted()
    }
}
