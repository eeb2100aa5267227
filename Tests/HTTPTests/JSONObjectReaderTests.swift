import Countersign
import HTTP
import Testing

@Suite struct `Reading an object` {
    /// What a body becomes, or why not.
    private func read<Value>(
        _ body: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
    ) -> Result<Value, BodyRefusal> {
        do {
            let json = try StrictJSON.parse(Bytes(body.utf8))
            return Result { () throws(BodyRefusal) in try ObjectReader.read(json, read) }
        } catch {
            return .failure(.malformed(error))
        }
    }

    /// The pointer of a wrong shape; `nil` when the shape was not refused.
    private func misshapen<Value>(
        _ body: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
    ) -> String? {
        if case .failure(.malformed(let error)) = self.read(body, read) {
            error.pointer.text
        } else {
            nil
        }
    }

    /// `pointer code` of each refused value; empty when none was.
    private func invalid<Value>(
        _ body: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
    ) -> [String] {
        if case .failure(.invalid(let members)) = self.read(body, read) {
            members.map { "\($0.pointer.text) \($0.code)" }
        } else {
            []
        }
    }

    @Test(arguments: ["[]", "42", "true", "null", "\"{}\"", "[{}]", "1.5"])
    func `needs an object`(body: String) {
        #expect(misshapen(body) { _ in true } == "")
    }

    @Test func `takes members of the right shape`() throws {
        let body = #"{"s":"x","a":["x","y"],"o":{"s":"z"}}"#
        let texts = try read(body) { reader throws(BodyRefusal) -> [String]? in
            let texts = [try reader.string("s")] + (try reader.strings("a"))
            let inner = try reader.object("o") { inner throws(BodyRefusal) in
                try inner.string("s")
            }
            guard let inner else { return nil }
            return texts + [inner]
        }.get()
        #expect(texts == ["x", "x", "y", "z"])
    }

    @Test(arguments: ["null", "1", "1.0", "true", "[]", "{}", "[\"x\"]"])
    func `refuses another shape than a string`(token: String) {
        #expect(
            misshapen("{\"m\":\(token)}") { reader throws(BodyRefusal) in
                try reader.string("m")
            } == "/m")
    }

    @Test(arguments: ["null", "\"x\"", "[1]", "[null]", "[[\"x\"]]", "[\"x\",1]", "{}"])
    func `refuses another shape than strings`(token: String) {
        #expect(
            misshapen("{\"m\":\(token)}") { reader throws(BodyRefusal) in
                try reader.strings("m")
            } == "/m")
    }

    @Test(arguments: ["null", "\"x\"", "1", "[]", "[{}]", "true"])
    func `refuses another shape than an object`(token: String) {
        #expect(
            misshapen("{\"m\":\(token)}") { reader throws(BodyRefusal) in
                try reader.object("m") { _ in true }
            } == "/m")
    }

    @Test func `refuses a missing member`() {
        #expect(misshapen("{}") { reader throws(BodyRefusal) in try reader.string("m") } == "/m")
        #expect(
            misshapen("{}") { reader throws(BodyRefusal) in
                try reader.object("m") { _ in true }
            } == "/m")
        #expect(
            misshapen("{\"o\":{}}") { reader throws(BodyRefusal) in
                try reader.object("o") { inner throws(BodyRefusal) in try inner.string("m") }
            } == "/o/m")
    }

    @Test(arguments: ["{}", #"{"s":null,"a":null}"#])
    func `takes optional members as left out or null`(body: String) throws {
        let isEmpty = try read(body) { reader throws(BodyRefusal) -> Bool? in
            let text = try reader.optionalString("s")
            let list = try reader.optionalStrings("a")
            return text == nil && list == nil
        }.get()
        #expect(isEmpty)
    }

    @Test func `refuses optional members of the wrong shape`() {
        #expect(
            misshapen("{\"m\":1}") { reader throws(BodyRefusal) in
                try reader.optionalString("m") ?? ""
            } == "/m")
    }

    @Test func `refuses members that nobody asked for`() {
        #expect(
            misshapen(#"{"a":"x","skip_step_up":true}"#) { reader throws(BodyRefusal) in
                try reader.string("a")
            } == "/skip_step_up")
        #expect(misshapen(#"{"x":null}"#) { _ in true } == "/x")
        #expect(
            misshapen(#"{"o":{"x/y":1}}"#) { reader throws(BodyRefusal) in
                try reader.object("o") { _ in true }
            } == "/o/x~1y")
    }

    @Test func `tells which of two members is there`() throws {
        for (body, expected) in [
            (#"{"device_key":{}}"#, [true, false]),
            (#"{"passkey":{},"device_key":null}"#, [false, true]), ("{}", [false, false]),
        ] {
            let found = try read(body) { reader throws(BodyRefusal) -> [Bool]? in
                let found = [reader.has("device_key"), reader.has("passkey")]
                for name in ["device_key", "passkey"] where reader.has(name) {
                    _ = try reader.object(name) { _ in true }
                }
                return found
            }.get()
            #expect(found == expected)
        }
    }

    @Test func `refuses a tree with two members of one name`() {
        let json = JSON.object([.init("a", "x"), .init("a", "y")])
        #expect(throws: BodyRefusal.self) { () throws(BodyRefusal) in
            try ObjectReader.read(json) { reader throws(BodyRefusal) in try reader.string("a") }
        }
    }
}

@Suite struct `Reading values of an object` {
    private enum Channel: String, CaseIterable { case phone, email }

    private func refusal<Value>(
        _ body: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
    ) -> BodyRefusal? {
        do {
            _ = try ObjectReader.read(try StrictJSON.parse(Bytes(body.utf8)), read)
            return nil
        } catch let error as BodyRefusal {
            return error
        } catch {
            Issue.record(error)
            return nil
        }
    }

    private func codes<Value>(
        _ body: String, _ read: (inout ObjectReader) throws(BodyRefusal) -> Value?
    ) -> [String] {
        guard case .invalid(let members)? = refusal(body, read) else { return [] }
        return members.map { "\($0.pointer.text) \($0.code)" }
    }

    @Test func `collects every value that is refused`() {
        let body = #"{"id":"a b","t":{"currency":"EURO","name":"A\u200b"}}"#
        #expect(
            codes(body) { reader throws(BodyRefusal) -> Bool? in
                let id = try reader.value("id", CustomerID.init)
                let inner = try reader.object("t") { inner throws(BodyRefusal) -> Bool? in
                    let currency = try inner.value("currency", Currency.init)
                    let name = try inner.displayText("name", .payeeName)
                    return currency != nil && name != nil ? true : nil
                }
                guard id != nil, inner != nil else { return nil }
                return true
            } == [
                "/id customer_id_format", "/t/currency currency_unknown",
                "/t/name text_forbidden_character",
            ])
    }

    @Test func `prefers a wrong shape to a refused value`() {
        let refusal = refusal(#"{"id":"a b","x":1}"#) { reader throws(BodyRefusal) in
            try reader.value("id", CustomerID.init)
        }
        guard case .malformed(let error)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(error.pointer.text == "/x")
    }

    @Test func `refuses a value even when the closure goes on without it`() {
        #expect(
            codes(#"{"id":"a b"}"#) { reader throws(BodyRefusal) -> Bool? in
                _ = try reader.optionalValue("id", ExternalID.init)
                return true
            } == ["/id external_id_format"])
    }

    @Test func `takes an optional value as left out or null`() {
        for body in ["{}", #"{"id":null}"#, #"{"id":"x"}"#] {
            #expect(
                refusal(body) { reader throws(BodyRefusal) -> Bool? in
                    _ = try reader.optionalValue("id", ExternalID.init)
                    return true
                } == nil)
        }
    }

    @Test func `ends at a word outside a closed list`() {
        #expect(
            codes(#"{"id":"","channel":"fax","more":1}"#) { reader throws(BodyRefusal) -> Bool? in
                _ = try reader.value("id", CustomerID.init)
                _ = try reader.choice("channel", Channel.self)
                return true
            } == ["/id customer_id_format", "/channel choice_unknown"])
        for word in ["phone", "email"] {
            #expect(
                refusal("{\"channel\":\"\(word)\"}") { reader throws(BodyRefusal) in
                    try reader.choice("channel", Channel.self)
                } == nil)
        }
        for word in ["Phone", "phone ", ""] {
            #expect(
                codes("{\"channel\":\"\(word)\"}") { reader throws(BodyRefusal) in
                    try reader.choice("channel", Channel.self)
                } == ["/channel choice_unknown"])
        }
    }

    @Test(arguments: [
        (#"{"iban":"be68 5390 0754 7034"}"#, "iban:BE68539007547034"),
        (#"{"scheme":"bban","value":"12-34"}"#, "bban:12-34"),
        (#"{"iban":null,"scheme":"bban","value":"1"}"#, "bban:1"),
    ])
    func `takes an account in either form`(account: String, text: String) throws {
        let json = try StrictJSON.parse(Bytes("{\"a\":\(account)}".utf8))
        let account = try ObjectReader.read(json) { reader throws(BodyRefusal) in
            try reader.account("a")
        }
        #expect(account.text == text)
    }

    @Test(arguments: [
        (#"{"iban":"BE68539007547035"}"#, "/a/iban iban_checksum"),
        (#"{"scheme":"iban","value":"BE68539007547034"}"#, "/a/scheme account_scheme"),
        (#"{"scheme":"x","value":"1 2"}"#, "/a/value account_value"),
    ])
    func `refuses an account where it is wrong`(account: String, code: String) {
        #expect(
            codes("{\"a\":\(account)}") { reader throws(BodyRefusal) in try reader.account("a") }
                == [code])
    }

    @Test(arguments: [
        ("{}", "/a"), (#"{"iban":"BE68539007547034","scheme":"x"}"#, "/a/scheme"),
        (#"{"scheme":"x"}"#, "/a/value"), (#"{"value":"x"}"#, "/a/scheme"),
        (#"{"iban":1}"#, "/a/iban"), (#""BE68539007547034""#, "/a"), (#"{"bic":"X"}"#, "/a"),
    ])
    func `refuses an account of another shape`(account: String, pointer: String) {
        let refusal = refusal("{\"a\":\(account)}") { reader throws(BodyRefusal) in
            try reader.account("a")
        }
        guard case .malformed(let error)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(error.pointer.text == pointer)
    }

    @Test(arguments: [
        ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("Hie\u{302}\u{301}u", "Hi\u{1EBF}u"),
        ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("\u{FB01}", "\u{FB01}"), ("A", "A"),
        ("=\u{338}", "\u{2260}"), ("\u{2126}", "\u{3A9}"),
    ])
    func `normalises texts that are shown to NFC`(text: String, normal: String) throws {
        let shown = try DisplayText(normalizing: text, .payeeName)
        #expect(shown.text.utf8.elementsEqual(normal.utf8))
        let again = try DisplayText(normalizing: shown.text, .payeeName)
        #expect(again == shown)
    }

    @Test func `counts a text after it is normalised`() throws {
        let decomposed = String(repeating: "e\u{301}", count: 140)
        #expect(
            try DisplayText(normalizing: decomposed, .payeeName).text.unicodeScalars.count == 140)
        // Four scalars that become one: the most that NFC can save.
        let longest = String(repeating: "\u{3B1}\u{313}\u{300}\u{345}", count: 140)
        #expect(try DisplayText(normalizing: longest, .payeeName).text.unicodeScalars.count == 140)
    }

    @Test func `refuses a long run of marks without ordering it`() {
        let marks = "a" + String(repeating: "\u{301}\u{323}", count: 500_000)
        #expect(throws: InvalidValue.self) { () throws(InvalidValue) in
            try DisplayText(normalizing: marks, .payeeName)
        }
    }

    @Test func `lets a text be left out where it may be empty`() {
        for (field, isOptional) in [
            (DisplayText.Field.payeeName, false), (.payeeAlias, true), (.reference, true),
            (.endToEndID, true), (.shadowLabel, false),
        ] {
            let refusal = refusal("{}") { reader throws(BodyRefusal) in
                try reader.displayText("m", field)
            }
            #expect((refusal == nil) == isOptional)
        }
    }
}
