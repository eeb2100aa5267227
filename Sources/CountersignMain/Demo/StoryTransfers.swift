import Countersign
import Crypto
import Foundation

/// Chapters about a transfer that goes through, once.
extension Story {
    mutating func payKnownPayee() async throws {
        try await step("A transfer to a payee that the customer confirmed long ago")
        asked("countersign payee import  \(Cast.knownName), an operator's act")
        let imported = try await bank.tools.importPayee([
            "customer_id": .string(customer), "name": .string(Cast.knownName),
            "account": ["iban": .string(Cast.knownAccount)],
        ])
        check("the payee is imported", imported, is: "imported 1, already there 0")
        let (_, question) = try await ask(
            "transfer 120.00 EUR", Cast.transfer("120.00", to: Cast.known(), "Invoice 7"))
        try show(question.approve, says: Cast.screen("Approve", "120.00", "Invoice 7"))
        memory.approval = try phone.answer(
            question.challenge, over: question.approve, as: memory.deviceKey)
        memory.executed = question.action
        let approved = try await approve(question, with: memory.approval)
        memory.approved = approved
        check("approved, nothing holds it", approved.decision, is: "approved, execution ready")
        asked("GET /v1/actions/\(question.action)")
        let settled = try await settled(question.action)
        came(settled, settled.decision)
        check("executed", settled.text("action", "execution"), is: "executed")
        try checkBooked(question.action, amount: "120.00")
    }

    /// Looks into core banking's own books.
    mutating func checkBooked(_ action: String, amount: String) throws {
        let bookings = try CoreBankingBooks(bank.home.journal).bookings(of: action)
        let booking = bookings.first
        check(
            "core banking's journal has exactly one booking, \(booking?["reference"]?.text ?? "?")",
            bookings.count == 1, expected: "1", came: String(bookings.count))
        check(
            "of what the customer's bytes say: \(amount) EUR",
            booking?["carried_out"]?["amount"]?.text, is: amount)
    }

    mutating func sendAgain() async throws {
        try await step("The backend lost the answer and sends the same approval again")
        asked("POST /v1/actions/\(memory.executed)/approve  the same bytes")
        let again = try await bank.backend.approve(memory.executed, memory.approval)
        came(again, again.isReplay ? "Idempotency-Replayed: true" : nil)
        let first = memory.approved?.body ?? []
        check(
            "the same answer, byte for byte", again.body == first,
            expected: String(decoding: first, as: UTF8.self),
            came: String(decoding: again.body, as: UTF8.self))
        check("marked as a repetition", again.isReplay)
        try checkBooked(memory.executed, amount: "120.00")
    }
}

/// Core banking's journal, read by somebody else than core banking.
struct CoreBankingBooks {
    private let lines: [JSON]

    /// - Throws: Foundation's error when the file cannot be read.
    init(_ path: String) throws {
        let bytes = Bytes(try Data(contentsOf: URL(filePath: path)))
        lines = bytes.split(separator: UInt8(ascii: "\n")).compactMap {
            SignedJSON.decode(Bytes($0))
        }
    }

    /// The key that was announced for a credential, as base64 of its SPKI.
    func key(of credential: String) -> String? {
        lines.compactMap { $0["key"] }.first { $0["credential_id"]?.text == credential }?[
            "public_key"]?
            .text
    }

    /// What was executed for an action.
    func bookings(of action: String) -> [JSON] {
        lines.compactMap { $0["booking"] }.filter {
            $0["action_id"]?.text == action && $0["status"]?.text == "executed"
        }
    }
}
