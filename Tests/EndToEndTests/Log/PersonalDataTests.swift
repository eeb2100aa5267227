import Countersign
import Foundation
import Postgres
import TestSupport
import Testing

@testable import CountersignMain

/// What never leaves the bodies: names, accounts, amounts, contact data and the bank's own IDs.
@Suite struct `The log of a bank` {
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
}
