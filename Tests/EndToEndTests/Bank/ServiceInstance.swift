import Countersign
import Crypto
import Foundation
import Postgres
import TestSupport

@testable import CountersignMain

/// One running instance of the service.
struct ServiceInstance: Sendable {
    let process: ServiceProcess
    let port: UInt16
    let bank: TestBank

    var base: String { "http://127.0.0.1:\(port)" }

    /// The bank's backend, with connections of its own.
    func backend() throws -> BankClient { try BankClient(base: base, key: bank.backendKey) }

    func auditor() throws -> APIClient { try APIClient(base: base, key: bank.auditorKey) }

    /// The bank's data-protection officer, a new one each time.
    func privacy() async throws -> APIClient {
        let key = APIKey.make(for: .privacy)
        try await bank.administer { administration in
            _ = try await administration.addClient(
                ID(at: systemTime(), random: EntropySource.openSSL(10)), name: "privacy",
                role: .privacy, keyDigest: sha256(Bytes(key.utf8)), subjectAlternativeName: nil)
        }
        return try APIClient(base: base, key: key)
    }

    /// Sends a request in its exact bytes, as the backend.
    func send(
        _ method: String, _ target: String, fields: [String] = [], body: Bytes = []
    ) async throws -> HttpSocket.Answer {
        try await HttpMessage(
            method, target, fields: ["Authorization: Bearer \(bank.backendKey)"] + fields,
            body: body
        ).send(to: port)
    }
}

/// A customer with a phone whose device key is enrolled, and an established payee.
struct BankCustomer: Sendable {
    let id: String
    let phone: SoftwarePhone
    /// The ID of the device key.
    let credential: String

    /// The body that creates a transfer to the established payee.
    func transfer(_ amount: String = "1.00", reference: String = "") -> JSON {
        Self.transfer(amount, of: id, reference: reference)
    }

    static func transfer(_ amount: String, of id: String, reference: String) -> JSON {
        [
            "customer_id": .string(id), "kind": "transfer",
            "transfer": [
                "amount": .string(amount), "currency": "EUR", "debtor_account": Cast.debtorAccount,
                "payee": Cast.known(), "reference": .string(reference),
            ],
        ]
    }

    static func contactChange(of id: String) -> JSON {
        [
            "customer_id": .string(id), "kind": "contact_change",
            "contact_change": [
                "channel": "phone", "old_value": "+4915112345678", "new_value": "+4915187654321",
            ],
        ]
    }

    /// The approval of a question by the device key.
    func approval(_ question: Question) throws -> JSON {
        try phone.answer(question.challenge, over: question.approve, as: credential)
    }
}

extension TestBank {
    /// The flags of an instance that may erase customers, however young what is recorded of them is.
    var erasing: [String] {
        [
            "--evidence-retention-days", "0", "--privacy-database-url",
            superuser.replacing(["user": "countersign_privacy"]).text,
        ]
    }

    /// A new customer with an established payee and an enrolled device key.
    func customer(_ id: String, at instance: ServiceInstance) async throws -> BankCustomer {
        try await importPayee(of: id)
        let phone = try SoftwarePhone(
            relyingPartyID: site.relyingPartyID, origin: site.origin)
        return BankCustomer(
            id: id, phone: phone, credential: try await enrol(phone, for: id, at: instance))
    }

    /// Makes ``Cast/known()`` an established payee of a customer.
    func importPayee(of customer: String) async throws {
        let payee = try PayeeIdentity(
            name: DisplayText(Cast.knownName, .payeeName), account: Account(iban: Cast.knownAccount)
        )
        try await administer { administration in
            _ = try await administration.importPayee(
                payee, alias: DisplayText("", .payeeAlias), of: CustomerID(customer))
        }
    }

    /// Enrols a phone's device key; the first of a customer needs no voucher under development.
    func enrol(
        _ phone: SoftwarePhone, for customer: String, at instance: ServiceInstance
    ) async throws -> String {
        let answer = try await instance.backend().enrolDeviceKey(
            of: phone, for: customer, vouchedBy: nil)
        guard answer.status == 201, let credential = answer.text("credential", "id") else {
            throw Unexpected("enrolment was answered \(answer.status) \(answer.problem ?? "")")
        }
        return credential
    }
}

/// Something that the test needs did not happen.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

// MARK: - What the bank's books say

extension TestBank {
    /// Runs statements as the superuser, for what a test has to arrange or look up.
    @discardableResult
    func sql(_ text: String) async throws -> Rows {
        try await onConnection { connection throws(PostgresError) in
            try connection.execute(Statement("test", .write, Bytes(text.utf8)))
        }
    }

    /// Runs a script of several statements as the superuser.
    func script(_ text: String) async throws {
        try await onConnection { connection throws(PostgresError) in
            try connection.run(script: text)
        }
    }

    /// Does something on a connection of the superuser's own.
    func onConnection<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing Connection) throws(PostgresError) -> Result
    ) async throws -> Result {
        var options = DatabaseOptions(connection: superuser, size: 1)
        options.statementDeadline = .seconds(60)
        let database = Database(options)
        do {
            let result = try await database.run(body)
            await database.close()
            return result
        } catch {
            await database.close()
            throw error
        }
    }

    /// One number out of the database.
    func count(_ expression: String) async throws -> Int {
        let rows = try await sql("SELECT (\(expression))::bigint AS value")
        guard let row = rows.first else { throw Unexpected("no row") }
        return try row["value"]
    }

    /// One text out of the database.
    func text(_ expression: String) async throws -> String? {
        let rows = try await sql("SELECT (\(expression))::text AS value")
        guard let row = rows.first else { throw Unexpected("no row") }
        return try row["value"]
    }

    /// What core banking booked, in the order of its journal.
    func bookings() throws -> [Booking] {
        let journal = FileManager.default.contents(atPath: folder + "/journal") ?? Data()
        return journal.split(separator: UInt8(ascii: "\n")).compactMap { line in
            SignedJSON.decode(Bytes(line))?["booking"].flatMap(Booking.init)
        }
    }

    /// Puts a policy in force that differs from the newest one in one member, as only development can: by
    /// statement, and told by whoever migrates.
    func policy(_ path: String, _ value: String) async throws {
        try await sql(
            """
            INSERT INTO countersign.policy (version, time_zone, active_from, document)
            SELECT version + 1, time_zone, clock_timestamp(), convert_to(
                   jsonb_set(convert_from(document, 'UTF8')::jsonb, '\(path)', '\(value)')::text,
                   'UTF8')
              FROM countersign.policy ORDER BY version DESC LIMIT 1
            """)
        try await recordPolicies()
    }

    /// Ends every lease and every pause between attempts, as if its time were over.
    func endLeases() async throws {
        // A hold has not begun to wait for an attempt, and is not ended.
        for table in ["execution_order", "credential_announcement"] {
            try await sql(
                """
                UPDATE countersign.\(table)
                   SET lease_until = clock_timestamp() - interval '1 second',
                       available_at = least(available_at, clock_timestamp())
                 WHERE settled_at IS NULL AND attempt > 0
                """)
        }
    }

    /// Waits until core banking has noted every key: an order that one signed which it does not know is
    /// tried again only after a pause.
    func settleAnnouncements() async throws {
        try await until("all keys are announced") {
            try await count(
                """
                SELECT count(*) FROM countersign.credential_announcement WHERE settled_at IS NULL
                """) == 0
        }
    }

    /// Waits until no order is left to be delivered.
    func settleOrders() async throws {
        try await until("all orders are settled") {
            try await count(
                """
                SELECT count(*) FROM countersign.execution_order o
                  JOIN countersign.action a ON a.id = o.action_id
                 WHERE o.settled_at IS NULL AND a.execution IN ('ready', 'unknown')
                """) == 0
        }
    }
}
