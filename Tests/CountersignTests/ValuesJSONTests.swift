import Countersign
import Foundation
import TestSupport
import Testing

@Suite struct `Canonical JSON` {
    @Test func `sorts by UTF-16, not by code point and not by bytes`() {
        // U+1F600 is D83D DE00 in UTF-16, and so comes before U+FB33.
        let bytes = CanonicalJSON.encode(["\u{FB33}": "1", "\u{1F600}": "2", "z": "3", "": "4"])
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "{\"\":\"4\",\"z\":\"3\",\"\u{1F600}\":\"2\",\"\u{FB33}\":\"1\"}")
    }

    @Test func `escapes what it must in the shortest way, and nothing else`() {
        let text = "\"\\/\u{8}\t\n\u{C}\r\0\u{1}\u{1F}\u{7F}\u{80}\u{2028}é😀"
        let expected =
            #"{"a":"\"\\/\b\t\n\f\r\u0000\u0001\u001f"# + "\u{7F}\u{80}\u{2028}é😀\"}"
        #expect(CanonicalJSON.encode(["a": text]) == Bytes(expected.utf8))
        #expect(CanonicalJSON.decode(Bytes(expected.utf8)) == ["a": text])
    }

    /// Text without anything to escape is copied as it is; each of these alone must keep it from that.
    @Test(arguments: [UInt8](0..<0x20) + [0x22, 0x5C])
    func `escapes each character that has to be, also when it is the only one`(
        unit: UInt8
    ) {
        let scalar = Unicode.Scalar(unit)
        let bytes = CanonicalJSON.encode(["a": "x\(scalar)y"])
        #expect(bytes.count { $0 == UInt8(ascii: "\\") } == (scalar == "\\" ? 2 : 1))
        #expect(!bytes.contains { $0 < 0x20 })
        #expect(CanonicalJSON.decode(bytes) == ["a": "x\(scalar)y"])
    }

    @Test(arguments: [
        "", "{", "}", "{}{}", "{} ", " {}", "[]", "null", #""a""#, #"{"a"}"#, #"{"a":}"#,
        #"{"a":1}"#, #"{"a":null}"#, #"{"a":true}"#, #"{"a":[]}"#, #"{"a":{}}"#, #"{"a":"b",}"#,
        #"{,"a":"b"}"#, #"{"a":"b""c":"d"}"#, #"{"a":"b";"c":"d"}"#, #"{"a" :"b"}"#,
        #"{"a": "b"}"#, #"{ "a":"b"}"#, #"{"a":"b" }"#, #"{"b":"1","a":"2"}"#,
        #"{"a":"1","a":"1"}"#, #"{"a":"1","a":"2"}"#, #"{'a':'b'}"#, #"{a:"b"}"#,
        #"{"a":"\u0062"}"#, #"{"a":"\/"}"#, #"{"a":"\u000A"}"#, #"{"a":"\u000a"}"#,
        #"{"a":"\u001F"}"#, #"{"a":"\u00e9"}"#, #"{"a":"\ud83d\ude00"}"#, #"{"a":"\x"}"#,
        #"{"a":"\"#, #"{"a":"\u00"#, #"{"a":"\u00zz"}"#, "{\"a\":\"\n\"}", "{\"a\":\"\t\"}",
        "{\"a\":\"\0\"}", "\u{FEFF}{}", #"{"a":"b"}//"#,
    ])
    func `is refused in any other form`(text: String) {
        #expect(CanonicalJSON.decode(Bytes(text.utf8)) == nil)
    }

    @Test func `of nothing is an empty object`() {
        #expect(CanonicalJSON.encode([:]) == Bytes("{}".utf8))
        #expect(CanonicalJSON.decode(Bytes("{}".utf8)) == [:])
    }

    @Test(arguments: [
        [0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
    ])
    func `is refused when it is not UTF-8`(wrong: Bytes) {
        #expect(CanonicalJSON.decode(Bytes(#"{"a":""#.utf8) + wrong + Bytes(#""}"#.utf8)) == nil)
    }
}

@Suite struct `JSON values` {
    @Test func `is written compactly, in the order of its members`() {
        let json: JSON = [
            "z": .null, "a": .bool(true), "n": .integer(.min),
            "list": [.bool(false), "é\n", [:], []],
            "quote\"": "\\",
        ]
        let expected =
            #"{"z":null,"a":true,"n":-9223372036854775808,"list":[false,"é\n",{},[]],"#
            + #""quote\"":"\\"}"#
        #expect(String(decoding: json.encoded, as: UTF8.self) == expected)
    }

    @Test func `never writes a number that it did not keep`() throws {
        let read = try JSONDecoder().decode(JSON.self, from: Data("[1.5]".utf8))
        #expect(read == [.fraction])
        #expect(read.encoded == Bytes("[null]".utf8))
    }

    @Test func `is read again from what it wrote`() throws {
        let json: JSON = [
            "a": [.null, .bool(false), .integer(0), .integer(.max), "", "\u{1F600}\0"], "b": [:],
        ]
        #expect(try JSONDecoder().decode(JSON.self, from: Data(json.encoded)) == json)
    }

    @Test func `gives a member only of an object, and a text only of a string`() {
        let json: JSON = ["a": "1", "b": .integer(1)]
        #expect(json["a"]?.text == "1")
        #expect(json["b"]?.text == nil)
        #expect(json["c"] == nil)
        #expect(JSON.array([json])["a"] == nil)
        #expect(JSON.optional(nil) == .null)
        #expect(JSON.optional("") == "")
    }
}
