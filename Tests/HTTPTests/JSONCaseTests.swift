import Countersign
import HTTP
import TestSupport
import Testing

/// The published cases whose input is JSON text or a name; each area prints one line.
@Suite struct `Published cases of JSON values` {
    @Test func `amounts`() throws {
        guard let cases = try Cases.domain("amount") else { return }
        let deviating = cases.run("domain.jsonl amount") { one in
            guard let currency = one.input("currencyJson")?.text else {
                return .deviating("no currency")
            }
            guard let amount = one.input("amountJson")?.text else {
                return twoSpellings(one, currency)
            }
            let money = money(amount, currency)
            let readAgain = money.flatMap { self.money("\"\($0.decimal)\"", currency) }
            guard money == readAgain else { return .deviating("another amount when read again") }
            return one.judge(
                money.map { String($0.minorUnits) },
                mustEqual: "minorUnits", "ifAcceptedMinorUnits")
        }
        #expect(deviating.isEmpty)
    }

    private func twoSpellings(_ one: Case, _ currency: String) -> Judgement {
        guard let first = one.input("challengeAmountJson")?.text,
            let second = one.input("approveAmountJson")?.text
        else { return .deviating("no input") }
        guard let first = money(first, currency), let second = money(second, currency) else {
            return one.judge(accepted: false)
        }
        return one.expect("equalValue") == .bool(first == second)
            ? one.judge(accepted: true) : .deviating("equal is \(first == second)")
    }

    /// The amount of `{"amount": …, "currency": …}` with these token texts; `nil` when refused.
    private func money(_ amount: String, _ currency: String) -> Money? {
        read(#"{"amount": \#(amount), "currency": \#(currency)}"#) { reader throws(BodyRefusal) in
            let currency = try reader.value("currency", Currency.init)
            return try reader.value("amount") { text throws(InvalidValue) in
                guard let currency else { throw InvalidValue("currency_unknown", "") }
                return try Money(decimal: text, currency: currency)
            }
        }
    }

    @Test func `bodies`() throws {
        guard let cases = try Cases.domain("json") else { return }
        let deviating = cases.run("domain.jsonl json") { one in
            switch one.input("generate")?.text {
            case "200,000 opening brackets":
                let bytes = Bytes(repeating: UInt8(ascii: "["), count: 200_000)
                return one.judge(accepted: body(bytes) != nil)
            case .some: return .unsupported("sizes, which the server judges")
            case nil: break
            }
            guard let bytes = one.input("bodyB64")?.text.flatMap({ Base64.decode($0) }) else {
                return .deviating("no input")
            }
            return one.judge(accepted: body(bytes) != nil)
        }
        #expect(deviating.isEmpty)
    }

    /// The bodies of these cases are flat objects of strings, of a product that is not ours.
    private func body(_ bytes: Bytes) -> [String]? {
        read(bytes) { reader throws(BodyRefusal) in
            [
                try reader.string("type"), try reader.string("payeeId"),
                try reader.string("amount"), try reader.string("currency"),
            ]
        }
    }

    @Test func `names and other texts that are shown`() throws {
        guard let cases = try Cases.domain("name") else { return }
        let deviating = cases.run("domain.jsonl name") { one in
            if let json = (one.input("nameJson") ?? one.input("json"))?.text {
                return one.judge(accepted: shown(token: json) != nil)
            }
            if let name = one.input("name") {
                let text = name.text ?? repeated(name)
                return one.judge(text.flatMap { shown($0) }?.hex, mustEqual: "storedBytesHex")
            }
            if let text = one.input("text")?.text {
                return one.judge(accepted: shown(text, .payeeAlias) != nil)
            }
            return pair(one)
        }
        #expect(deviating.isEmpty)
    }

    /// Two texts that are, or are not, one.
    private func pair(_ one: Case) -> Judgement {
        let pairs = [("existingPayee", "newPayee"), ("challengeName", "approveName"), ("a", "b")]
        for (first, second) in pairs {
            guard let first = one.input(first)?.text, let second = one.input(second)?.text else {
                continue
            }
            guard let first = shown(first), let second = shown(second) else {
                return one.judge(accepted: false)
            }
            let same = one.expect("canonicallyEqual") ?? one.expect("samePayee")
            guard same == .bool(first == second) else { return .deviating("\(first == second)") }
            return one.judge(first.hex, mustEqual: "ifAcceptedStoredBytesHex")
        }
        return .deviating("no input")
    }

    private func shown(_ text: String) -> DisplayText? { shown(text, .payeeName) }

    private func shown(_ text: String, _ field: DisplayText.Field) -> DisplayText? {
        read(JSON.object([.init("text", .string(text))]).encoded) { reader throws(BodyRefusal) in
            try reader.displayText("text", field)
        }
    }

    private func shown(token: String) -> DisplayText? {
        read("{\"text\": \(token)}") { reader throws(BodyRefusal) in
            try reader.displayText("text", .payeeName)
        }
    }

    private func repeated(_ json: JSON) -> String? {
        guard let unit = json["repeatOf"]?.text, case .integer(let count)? = json["codePoints"]
        else { return nil }
        var scalars = String.UnicodeScalarView()
        while scalars.count < count { scalars += unit.unicodeScalars }
        return String(scalars)
    }
}

extension DisplayText {
    /// The bytes that are stored and signed.
    fileprivate var hex: String { Hex.encode(Bytes(text.utf8)) }
}

private func read<Value>(
    _ body: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
) -> Value? {
    HTTPTests.read(Bytes(body.utf8), read)
}

private func read<Value>(
    _ body: Bytes, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
) -> Value? {
    do {
        return try ObjectReader.read(try StrictJSON.parse(body), read)
    } catch {
        return nil
    }
}
