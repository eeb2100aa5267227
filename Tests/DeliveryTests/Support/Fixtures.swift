import Countersign
import Crypto
import Delivery
import Foundation
import Testing

/// A value shared by tasks of one test.
final class Locked<Value: Sendable>: @unchecked Sendable {
    // Unchecked: the value is touched only under the lock.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }

    var current: Value { withLock { $0 } }
}

/// Values that a delivery is made of; a test changes the one that matters.
enum Fixture {
    static let now = Instant(milliseconds: 1_780_000_000_123)
    static let actionID = ID<Action>(at: now, random: Bytes(repeating: 1, count: 10))
    static let credentialID = ID<Credential>(at: now, random: Bytes(repeating: 2, count: 10))
    static let evidenceID = ID<Evidence>(at: now, random: Bytes(repeating: 3, count: 10))

    static let customerID = customer("c-1001")

    static func customer(_ text: String) -> CustomerID {
        do {
            return try CustomerID(text)
        } catch {
            preconditionFailure("\(text) is no customer ID")
        }
    }

    static let url = HTTPURL(
        scheme: .https, authority: "core.bank.example", target: "/executions")

    /// The members of a transfer's signed message, with `changes` on top.
    static func message(_ changes: [String: String?] = [:]) -> Bytes {
        var members: [String: String?] = [
            "action_id": actionID.text, "audience": "bank.example",
            "challenge_id": "0190b5a0-0000-7000-8000-000000000001", "customer_id": "c-1001",
            "decision": "approve", "expires_at": "2026-05-28T20:26:40Z", "kind": "transfer",
            "nonce": Base64.encodeURL(Bytes(repeating: 7, count: 32)), "version": "countersign/1",
            "amount": "120.00", "currency": "EUR",
            "debtor_account": "iban:DE89370400440532013000", "payee_name": "Erika Mustermann",
            "payee_account": "iban:FR1420041010050500013M02606", "reference": "Invoice 7",
            "end_to_end_id": "",
        ]
        for (name, value) in changes { members[name] = value }
        return CanonicalJSON.encode(members.compactMapValues { $0 })
    }

    static func order(
        message: Bytes = message(),
        proof: RecordedAssertion.Proof = .deviceKey(signature: [1, 2], format: .der)
    ) -> ExecutionOrder {
        ExecutionOrder(
            actionID: actionID, customerID: customerID, approvedAt: now, evidenceID: evidenceID,
            leafHash: sha256([9]), message: message,
            approval: .customer(
                RecordedAssertion(
                    credentialID: credentialID, publicKeySPKI: [0x30, 1], proof: proof)))
    }

    static func announcement() -> CredentialAnnouncement {
        CredentialAnnouncement(
            credentialID: credentialID, customerID: customerID, kind: .passkey,
            publicKeySPKI: [0x30, 1], signatureFormat: nil, enrolledAt: now, evidenceID: evidenceID)
    }

    static func claim(
        _ item: DeliveryItem = .order(order()), phase: Claim.Phase = .push, attempt: Int = 1,
        age: Seconds = Seconds(0), token: UInt8 = 4
    ) -> Claim {
        Claim(
            item: item, phase: phase,
            leaseToken: ID(at: now, random: Bytes(repeating: token, count: 10)),
            attempt: attempt, firstAttemptAt: now - age, claimedAt: now)
    }

    static func answer(_ body: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, fields: [], body: Bytes(body.utf8))
    }

    static func link(
        retry: RetryPolicy = .standard, entropy: EntropySource = .openSSL,
        transport: @escaping HTTPTransport
    ) throws -> CoreBankingLink {
        let key = try Ed25519PrivateKey.generate()
        let signer = try #require(
            MessageSigner(key: key, keyID: "service-1", entropy: .openSSL))
        let url = try #require(url)
        return try #require(
            CoreBankingLink(
                url: url, signer: signer, retry: retry, entropy: entropy, promise: noPromise,
                transport: transport))
    }
}

/// Of a service that signs none.
let noPromise: PromiseMaker = { _, _ in nil }

extension OrderDocument {
    /// An order of a service that promises nothing.
    static func encode(_ order: ExecutionOrder) -> Bytes? { encode(order, promise: noPromise) }
}

extension ExecutionOrder {
    /// The customer's proof; a test asks for it only where there is one.
    var assertion: RecordedAssertion {
        guard case .customer(let assertion) = approval else {
            preconditionFailure("officers approved this order")
        }
        return assertion
    }
}

extension JSON {
    var elements: [JSON] { if case .array(let values) = self { values } else { [] } }
}
