import Countersign
import TestSupport
import Testing

/// The published cases about what a signature is bound to; the area prints one line.
@Suite struct `Published cases of binding` {
    @Test func `give two actions two messages`() throws {
        guard let cases = try Cases.domain("binding") else { return }
        let phone = try TestPhone()
        let deviating = cases.run("domain.jsonl binding") { one in
            guard one.verdict == "distinct" else {
                return .unsupported("a whole request; see the tests of deciding")
            }
            guard let first = one.input("actionA"), let second = one.input("actionB") else {
                return .deviating("no input")
            }
            return try judge(first, second, phone)
        }
        #expect(deviating.isEmpty)
    }

    private func judge(_ first: JSON, _ second: JSON, _ phone: TestPhone) throws -> Judgement {
        let one = accepted { () throws(InvalidValue) in try message(first) }
        var other = accepted { () throws(InvalidValue) in try message(second) }
        // What is refused is signed by nobody, so it cannot share a signature.
        guard let one, let decoded = other else { return .asExpected }
        if one == decoded, first["amount"]?.text != second["amount"]?.text {
            // Two spellings of one amount are one content. As two actions they have two IDs.
            other = try Fixtures.message(decoded.content, action: Fixtures.id(9))
        }
        guard let other, one.bytes != other.bytes else {
            return .deviating("one message for two actions")
        }
        guard case .deviceKey(_, let signature, _) = try phone.sign(one.bytes) else {
            return .deviating("no signature")
        }
        let pem = phone.publicKeyPEM
        guard try Fixtures.deviceKeyVerifies(signature, over: one.bytes, pem: pem),
            try !Fixtures.deviceKeyVerifies(signature, over: other.bytes, pem: pem)
        else { return .deviating("a signature for one is good for the other") }
        return .asExpected
    }

    private func message(_ action: JSON) throws(InvalidValue) -> SignedMessage {
        func text(_ name: String) -> String { action[name]?.text ?? "" }
        let payee = (text("payeeName"), text("payeeIban"))
        let content =
            text("type") == "transfer"
            ? try Fixtures.transfer(
                text("amount"), currency: text("currency"), payee: payee,
                reference: text("reference"), endToEndID: "")
            : try Fixtures.newPayee(payee: payee, alias: text("reference"))
        return try Fixtures.message(
            content, action: id(text("actionId")), challenge: id(text("challengeId")))
    }

    /// The cases' short names as IDs.
    private func id<Entity>(_ name: String) -> ID<Entity> {
        Fixtures.id(name.utf8.reduce(1) { $0 * 256 + Int($1) })
    }
}
