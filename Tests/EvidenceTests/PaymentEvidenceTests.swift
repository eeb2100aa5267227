import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `Evidence of a payment that a browser showed` {
    private let log: TestLog
    private let bank: TestBank
    private let decided: Decided
    private let message: Bytes

    init() async throws {
        log = try TestLog()
        bank = try TestBank()
        let asked = try bank.ask(try Fixtures.transfer())
        message = asked.challenge.approveMessage
        let proof = try bank.phone.confirm(message, browserBoundKey: .generate())
        decided = try await Decided(bank.command(.approve, asked, proof), at: bank, asked)
    }

    private func fault(_ changes: [(String, JSON?)]) throws -> EvidenceFault? {
        let draft = decided.drafts[0]
        let body = changes.reduce(draft.body) { $0.setting($1.0, to: $1.1) }
        return log.verifier.fault(of: try log.record([draft.with(body: body)])[0])
    }

    private func assertion(_ assertion: UnverifiedAssertion) -> (String, JSON?) {
        ("assertion", assertion.evidence)
    }

    @Test func `holds the browser's signature, and verifies`() throws {
        let record = try log.record(decided.drafts)[0]
        #expect(record.kind == "action.approved")
        #expect(try log.verifier.verify(record) == .signatureVerified)
        let recorded = decided.drafts[0].body["assertion"]
        #expect(recorded?["kind"] == "passkey")
        #expect(recorded?["payment"]?.bytes("browser_bound_signature") != nil)
        let clientData = try #require(recorded?.bytes("client_data_json"))
        let shown = try #require(SignedJSON.decodeClientData(clientData))
        #expect(shown["payment"]?.bytes("browserBoundPublicKey") != nil)
    }

    @Test func `SPC-02 - never passes as a login, nor a login as a payment`() throws {
        #expect(try fault([("assertion.payment", nil)]) == .challenge)
        let login = try bank.phone.assert(message)
        #expect(try fault([assertion(login)]) == nil)
        #expect(
            try fault([
                assertion(login),
                ("assertion.payment", ["browser_bound_signature": .null]),
            ]) == .challenge)
    }

    @Test func `tells when the browser showed another amount or payee`() throws {
        for content in try [
            Fixtures.transfer("12.00"), Fixtures.transfer("120", currency: "JPY"),
            Fixtures.transfer(payee: ("Erika Musterfrau", Fixtures.payeeIBAN)),
            Fixtures.transfer(payee: ("Erika Mustermann", Fixtures.iban)),
        ] as [ActionContent] {
            guard case .transfer(let transfer) = content else { continue }
            let shown = try Fixtures.paymentRequest(transfer, sha256(message), [], Seconds(300))
            let lie = try bank.phone.confirm(message, request: shown)
            #expect(try fault([assertion(lie)]) == .payment)
        }
    }

    @Test func `notices every flipped bit of its three parts`() throws {
        for part in ["client_data_json", "authenticator_data", "signature"] {
            let path = "assertion.\(part)"
            let good = try #require(decided.drafts[0].body["assertion"]?.bytes(part))
            for index in good.indices {
                var flipped = good
                flipped[index] ^= 1 << UInt8(index % 8)
                #expect(try fault([(path, .string(Base64.encodeURL(flipped)))]) != nil)
            }
        }
    }
}
