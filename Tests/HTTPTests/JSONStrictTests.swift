import Countersign
import Testing

@testable import HTTP

@Suite struct `Strict JSON` {
    private func parse(_ text: String) throws(MalformedJSON) -> JSON {
        try StrictJSON.parse(Bytes(text.utf8))
    }

    /// Where and why a text is refused, or `nil` when it is taken.
    private func refusal(_ text: String) -> MalformedJSON? { refusal(Bytes(text.utf8)) }

    private func refusal(_ bytes: Bytes) -> MalformedJSON? {
        do {
            _ = try StrictJSON.parse(bytes)
            return nil
        } catch {
            return error
        }
    }

    private static let readable: [(String, JSON)] = [
        ("null", JSON.null), ("true", .bool(true)), (" false\n", .bool(false)), ("0", .integer(0)),
        ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)), ("\"\"", ""), ("[]", []), ("{}", [:]),
        (" [ 1 , \"a\" , null ] ", [.integer(1), "a", .null]),
        ("{\"b\":1,\"a\":{\"c\":[]}}", ["a": ["c": []], "b": .integer(1)]),
        (#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude0a""#, "\"\\/\u{8}\u{C}\n\r\t\u{E9}😊"),
        (#"{"\u0061": "\u0041"}"#, ["a": "A"]), ("\"\u{7F}é😀\"", "\u{7F}é😀"),
        (#"["\uDBFF\uDFFF"]"#, ["\u{10FFFF}"]), ("\r\n\t [\t]\r\n", []),
        (#"{"":0}"#, ["": .integer(0)]), (#""\uFEFF""#, "\u{FEFF}"),
    ]

    @Test(arguments: readable)
    func `is read`(text: String, json: JSON) throws {
        #expect(try parse(text) == json)
    }

    @Test(arguments: [
        "1.0", "1e2", "1E2", "1e+2", "1E-2", "0.5", "-0.0", "-0e0", "120.00", "1e309", "1e-400",
        "4.990000000000001", "9223372036854775808", "-9223372036854775809", "100e-2",
        "123456789012345678901234567890",
    ])
    func `keeps a number that is no 64-bit integer as a fraction`(text: String) throws {
        #expect(try parse(text) == .fraction)
        #expect(try parse("{\"a\":[\(text)],\"b\":\(text)}") == ["a": [.fraction], "b": .fraction])
    }

    @Test(arguments: [
        "", " ", "\n", "{", "[", "}", "]", "[1", "{\"a\"", "{\"a\":", "{\"a\":1", "\"a", "\"a\\",
        "[1}", "{]", "{\"a\":1]", "[1 2]", "[,1]", "[1,,2]", "{,}", "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{1:2}", "{null:1}", "{a:1}", "{'a':1}", "'a'", "{\"a\":}", "{:1}", ":", ",", "tru", "True",
        "nul", "nullx", "TRUE", "truefalse", "undefined",
    ])
    func `refuses what is cut off or mixed up`(text: String) {
        #expect(refusal(text) != nil)
    }

    @Test(arguments: [
        "[1,]", "{\"a\":1,}", "{}{}", "{} {}", "[]]", "1 1", "{}\0", "{}x", "{}//", "/**/{}",
        "{}/* */", "[1]//x", "#\n{}", "{\"a\":1}\u{FEFF}", "\u{FEFF}{}", "\u{FEFF}", "\u{A0}{}",
        "\u{B}{}", "\u{2028}{}", "{\u{C}}", "{\"a\":1;}", "(1)", "\u{1E}{}",
    ])
    func `refuses what only some readers take`(text: String) {
        #expect(refusal(text) != nil)
    }

    @Test(arguments: [
        "-0", "01", "-01", "00", "+1", ".5", "5.", "-", "-.5", "1e", "1e+", "1.e1", "1.5.5", "0x1",
        "1_000", "NaN", "Infinity", "-Infinity", "inf", "1,5", "１", "0b1", "1L", "--1", "1e1.5",
    ])
    func `refuses other notations of numbers`(text: String) {
        #expect(refusal(text) != nil)
        #expect(refusal("[\(text)]") != nil || text == "1,5")
        #expect(refusal("{\"a\":\(text)}") != nil)
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\u0041""#,
        #""\udc00\ud800""#, #""\ud83d\ud83d\ude0a""#, #""\ud800\ud800""#, #""\udfff""#,
        #""\u0000""#, #""a\u0000b""#, "\"\0\"", "\"\u{1}\"", "\"\n\"", "\"\t\"", "\"\u{1F}\"",
        #""\x41""#, #""\a""#, #""\'""#, #""\u""#, #""\u12""#, #""\u12G4""#, #""\u 123""#,
        #""\U0041""#, #""\u{41}""#, #""\0""#, "\"\\\n\"", #""\uD83D\u""#, #""\u٠٠٤١""#,
        #""\u+041""#,
    ])
    func `refuses strings that are no text`(text: String) {
        #expect(refusal(text) != nil)
        #expect(refusal("{\(text):1}") != nil)
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0xC3, 0x28], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xE2, 0x82],
        ] as [Bytes])
    func `refuses bytes that are not UTF-8`(bytes: Bytes) {
        let quote = [UInt8(ascii: "\"")]
        #expect(refusal(quote + bytes + quote)?.detail == "The body is not UTF-8.")
        #expect(refusal(Bytes("{}".utf8) + bytes) != nil)
    }

    @Test func `refuses UTF-16 and UTF-32`() {
        #expect(refusal([0x7B, 0, 0x7D, 0]) != nil)
        #expect(refusal([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) != nil)
        #expect(refusal([0, 0x7B, 0, 0x7D]) != nil)
        #expect(refusal([0, 0, 0, 0x7B, 0, 0, 0, 0x7D]) != nil)
    }

    @Test(arguments: [
        (#"{"a":1,"a":1}"#, "/a"), (#"{"a":1,"b":2,"a":3}"#, "/a"),
        (#"{"a":1,"\u0061":2}"#, "/a"), (#"{"x":{"y":[0,{"a":1,"a":2}]}}"#, "/x/y/1/a"),
        (#"{"":1,"":2}"#, "/"), ("{\"\u{E9}\":1,\"e\u{301}\":2}", "/e\u{301}"),
        (#"{"\u00e9":1,"e\u0301":2}"#, "/e\u{301}"), (#"{"\ud83d\ude0a":1,"😊":2}"#, "/😊"),
        (#"{"a/b~":{"c":1,"c":2}}"#, "/a~1b~0/c"),
    ])
    func `refuses two members of one name`(text: String, pointer: String) {
        let error = refusal(text)
        #expect(error?.detail == "The object has two members of this name.")
        #expect(error?.pointer.text == pointer)
    }

    @Test func `takes one name in several objects`() throws {
        #expect(refusal(#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#) == nil)
        #expect(refusal(#"{"a":1,"A":2,"á":3,"":4}"#) == nil)
    }

    @Test func `has member names of at most 128 bytes`() {
        func named(_ name: String) -> String { "{\"\(name)\":{}}" }
        let most = String(repeating: "é", count: StrictJSON.nameBytesMax / 2)
        #expect(refusal(named(most)) == nil)
        #expect(refusal(named(most + "x"))?.detail == "A member name is too long.")
        // Sorting these marks would take a second.
        #expect(refusal(named(String(repeating: "\u{301}\u{323}", count: 16_000))) != nil)
    }

    @Test(arguments: [("[", "]"), ("{\"a\":", "}")])
    func `is nested at most 32 levels`(open: String, close: String) {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(refusal(nested(StrictJSON.depthMax)) == nil)
        #expect(refusal(nested(StrictJSON.depthMax + 1)) != nil)
        #expect(refusal(nested(200_000)) != nil)
        #expect(refusal(String(repeating: open, count: 200_000)) != nil)
        // The depth is of what is open, not of what has been.
        #expect(refusal("[\(Array(repeating: "[[]]", count: 100).joined(separator: ","))]") == nil)
    }

    @Test(arguments: [
        (#"{"transfer":{"amount":01}}"#, "/transfer/amount"), (#"{"a":[1,2,x]}"#, "/a/2"),
        ("x", ""), (#"{"a":"\ud800"}"#, "/a"), (#"{"a":[],"b":tru}"#, "/b"),
    ])
    func `is refused with the place`(text: String, pointer: String) {
        #expect(refusal(text)?.pointer.text == pointer)
    }

    /// The decoder would refuse some of these too; the reason shows that the scanner did.
    @Test(arguments: [
        ("\u{FEFF}{}", "The body begins with a byte order mark."), ("", "The body is empty."),
        ("{}{}", "Something follows the JSON value."), ("-0", "A number is negative zero."),
        ("01", "A number has no digits or a leading zero."), ("1.", "A number has no decimals."),
        ("1e", "A number has no exponent."), ("\"", "A string is not closed."),
        ("\"\\", "A string is not closed."), (#""\ud800""#, "A string holds a lone surrogate."),
        (#""\u0000""#, "A string holds U+0000."), ("\"\n\"", "A string holds a control character."),
        (#""\x""#, "A string holds an unknown escape."),
        (
            "{\"a\":1,}",
            "A member name in double quotes is missing here."
        ), ("[1,]", "A JSON value is missing here."),
        ("{\"a\" 1}", "A colon is missing here."), ("{\"a\":1 2}", "The object is not closed."),
        ("[1 2]", "The array is not closed."), ("nul", "A JSON value is missing here."),
        (#""\u12G4""#, "A string holds an escape without four hexadecimal digits."),
    ])
    func `is refused with the reason`(text: String, reason: String) {
        #expect(refusal(text)?.detail == reason)
    }

    @Test func `is never quoted in the reason`() {
        #expect(refusal(#"{"a":"secret","a":"secret"}"#)?.detail.contains("secret") == false)
        #expect(refusal("secret")?.detail.contains("secret") == false)
    }

    /// Cuts and single changed bytes of a body: each is read or refused, and what is read spells
    /// the same again.
    @Test func `survives every cut and many changed bytes`() throws {
        let body = Bytes(
            #"{"a":"é\u00e9\n😀","b":[1,-2,3.5,true,null],"c":{"d":"x","e":{}},"f":1e9}"#.utf8)
        for length in 0..<body.count { #expect(refusal(Bytes(body.prefix(length))) != nil) }
        for index in body.indices {
            for byte in [0, 0x20, 0x22, 0x2C, 0x30, 0x5C, 0x7B, 0x7D, 0x80, 0xFF] as Bytes {
                var changed = body
                changed[index] = byte
                guard let json = try? StrictJSON.parse(changed) else { continue }
                #expect(try StrictJSON.parse(json.encoded).encoded == json.encoded)
            }
        }
    }

    /// What we write we must be able to read.
    @Test func `is read back as it was written`() throws {
        let json: JSON = [
            "array": [.null, .bool(true), .integer(.min), .integer(.max), "\u{1F}\"\\/\u{7F}é😀"],
            "object": ["": [:], "\n": []],
        ]
        #expect(try StrictJSON.parse(json.encoded) == json)
    }
}
