import Countersign
import Testing

@testable import WebAuthn

@Suite struct `CBOR of authenticators` {
    private func read(_ hex: String) -> CBOR? {
        var input = (Hex.decode(hex) ?? [])[...]
        let value = CBOR(takingFrom: &input)
        return input.isEmpty ? value : nil
    }

    /// RFC 8949 appendix A, as far as authenticators write such things.
    @Test(arguments: [
        "00", "17", "1818", "1903e8", "1a000f4240", "1b000000e8d4a51000", "1bffffffffffffffff",
        "20", "3863", "3903e7", "3bffffffffffffffff", "f4", "f5", "f6", "40", "4401020304", "60",
        "6449455446", "62c3bc", "64f0908591", "80", "83010203", "8301820203820405", "a0",
        "a201020304", "a26161016162820203",
    ])
    func `reads and writes the examples of the standard`(hex: String) throws {
        #expect(Hex.encode(try #require(read(hex)).encoded) == hex)
    }

    @Test(arguments: [
        // Cut short.
        "", "18", "1903", "41", "6161ff", "8201", "a101", "81",
        // Floats, tags, undefined, simple values.
        "f90000", "fa47c35000", "fb3ff199999999999a", "c074", "f7", "f0", "f818",
        // Indefinite lengths and the break.
        "5f41ff", "5f4101ff", "7f6161ff", "9fff", "9f01ff", "bfff", "ff",
        // Reserved heads.
        "1c", "1d", "1e", "3c", "5c", "7c", "9c", "bc", "fc", "fe",
        // A key twice, also in another spelling of its number.
        "a201010102", "a20101180102", "a2616101616102",
        // Text that is no UTF-8.
        "61ff", "62c328", "63eda080",
        // More promised than there is.
        "9affffffff", "9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff",
        "7b7fffffffffffffff", "9b7fffffffffffffff01",
    ])
    func `refuses what is malformed, ambiguous or not for authenticators`(hex: String) {
        #expect(read(hex) == nil)
    }

    @Test func `takes overlong heads and any order of pairs, as real devices write them`() {
        #expect(read("1801") == .unsigned(1))
        #expect(read("b9000101f5") == .map([CBOR.Pair(key: .unsigned(1), value: .bool(true))]))
        #expect(read("a202010101") != nil)
    }

    /// Some clients write the attestation object so; what an authenticator signs is never read so.
    @Test func `takes open arrays and maps only where it is told to`() {
        func open(_ hex: String) -> CBOR? {
            var input = (Hex.decode(hex) ?? [])[...]
            let value = CBOR(takingFrom: &input, lengths: .definiteOrOpen)
            return input.isEmpty ? value : nil
        }
        #expect(open("9fff") == .array([]))
        #expect(
            open("9f01820203ff")
                == open("8201820203").map { _ in
                    .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)])])
                })
        #expect(open("bf6161bf01f5ffff")?["a"]?[1] == .bool(true))
        for hex in [
            // The end where none may be, or none where it must be.
            "ff", "81ff", "a1ff", "a101ff", "bf01ff", "bfff01", "9f", "9f01", "bf", "bf0101",
            // A key twice, and strings in pieces.
            "bf01010102ff", "5f41ff", "5f4101ff", "7f6161ff",
        ] {
            #expect(open(hex) == nil, "\(hex)")
        }
        #expect(open(String(repeating: "9f", count: 60_000)) == nil)
        #expect(open(String(repeating: "bf", count: 60_000)) == nil)
    }

    @Test func `stops at the deepest allowed nesting`() {
        let depth = CBOR.depthMax
        #expect(read(String(repeating: "81", count: depth - 1) + "00") != nil)
        #expect(read(String(repeating: "81", count: depth) + "00") == nil)
        #expect(read(String(repeating: "81", count: 60_000)) == nil)
        #expect(read(String(repeating: "a1", count: 60_000)) == nil)
    }

    @Test func `leaves what follows the first value`() {
        var input: ArraySlice<UInt8> = [0xA0, 0x01, 0x02]
        #expect(CBOR(takingFrom: &input) == .map([]))
        #expect(input == [0x01, 0x02])
        var broken: ArraySlice<UInt8> = [0x82, 0x01]
        #expect(CBOR(takingFrom: &broken) == nil)
        #expect(broken == [0x82, 0x01])
    }

    @Test func `integers reach to both ends`() {
        #expect(CBOR(integer: -1) == .negative(0))
        #expect(CBOR(integer: .min).integer == .min)
        #expect(CBOR(integer: .max).integer == .max)
        #expect(CBOR.unsigned(.max).integer == nil)
        #expect(CBOR.negative(.max).integer == nil)
    }

    @Test func `a name is looked up by its units`() {
        let value = CBOR.map([CBOR.Pair(key: .text("\u{E9}"), value: .null)])
        #expect(value["\u{E9}"] == .null)
        #expect(value["e\u{301}"] == nil)
        #expect(CBOR.null["x"] == nil)
    }
}
