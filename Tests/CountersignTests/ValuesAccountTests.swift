import Countersign
import TestSupport
import Testing

@Suite struct `Accounts` {
    @Test func `with published IBANs are accepted`() throws {
        guard case .array(let published)? = try Cases.vectors("iban.json")?["valid"] else { return }
        for iban in published.compactMap(\.text) {
            #expect(try Account(iban: iban).text == "iban:\(iban)")
            #expect(try Account(text: "iban:\(iban)") == Account(iban: iban))
        }
    }

    /// Two of the invalid ones are only not the electronic form: as a signed text they are refused,
    /// and as input they are the account that they print.
    @Test func `with IBANs published as wrong are refused`() throws {
        guard case .array(let published)? = try Cases.vectors("iban.json")?["invalid"] else {
            return
        }
        for iban in published.compactMap({ $0["iban"]?.text }) {
            #expect(
                accepted { () throws(InvalidValue) in try Account(text: "iban:\(iban)") } == nil)
            let account = accepted { () throws(InvalidValue) in try Account(iban: iban) }
            let isSpelling = iban.contains(" ") || iban.hasPrefix("de")
            #expect((account != nil) == isSpelling)
        }
    }

    /// For each country an IBAN of its length is made, and one longer and one shorter.
    @Test func `have the published length of their country`() throws {
        guard case .object(let lengths)? = try Cases.vectors("iban.json")?["lengths"] else {
            return
        }
        for member in lengths {
            guard case .integer(let length) = member.value else { continue }
            func code(_ length: Int) -> String? {
                let iban = madeIBAN(member.name, length: length)
                return refusal { () throws(InvalidValue) in try Account(iban: iban) }
            }
            #expect(code(Int(length)) == nil)
            #expect(code(Int(length) + 1) == "iban_length")
            #expect(code(Int(length) - 1) == "iban_length")
        }
    }

    @Test(arguments: [
        ("DE89370400440532013001", "iban_checksum"), ("DE98370400440532013000", "iban_checksum"),
        ("DE00100000000000300922", "iban_checksum"), ("SK0110000000000000308841", "iban_checksum"),
        ("DE8937040044053201300", "iban_length"), ("DE893704004405320130000", "iban_length"),
        ("US89370400440532013000", "iban_country"), ("XX89370400440532013000", "iban_country"),
        ("ZZ", "iban_format"), ("", "iban_format"), ("    ", "iban_format"), ("X", "iban_format"),
        ("0089370400440532013000", "iban_format"), ("DEAB370400440532013000", "iban_format"),
        ("DE89-3704-0044-0532-0130-00", "iban_format"), ("DE89.37040044", "iban_format"),
        ("DE89370400440532013000\0", "iban_format"), ("DE89370400440532013000\n", "iban_format"),
        ("DE89\u{A0}370400440532013000", "iban_format"),
        ("DE89\u{200B}370400440532013000", "iban_format"),
        ("D\u{0415}89370400440532013000", "iban_format"),
        ("DE８9370400440532013000", "iban_format"),
        ("DE89\u{0663}70400440532013000", "iban_format"),
        ("ıT60X0542811101000000123456", "iban_format"),
        ("\u{212A}Z86125KZT5004100100", "iban_format"),
        ("DE89 3704 0044 0532 0130 0O", "iban_checksum"),
    ])
    func `with wrong IBANs are refused`(iban: String, code: String) {
        #expect(refusal { () throws(InvalidValue) in try Account(iban: iban) } == code)
    }

    @Test(arguments: [
        "gb82 west 1234 5698 7654 32", " GB82WEST12345698765432 ", "GB82  WEST12345698765432",
        "Gb82WesT12345698765432",
    ])
    func `are one however the IBAN is printed`(spelling: String) throws {
        #expect(try Account(iban: spelling).text == "iban:GB82WEST12345698765432")
        #expect(
            accepted { () throws(InvalidValue) in try Account(text: "iban:\(spelling)") } == nil)
    }

    /// MOD 97-10 finds every single wrong digit and every two neighbours in the wrong order.
    @Test func `notice a wrong digit and two swapped digits`() throws {
        let digits = Array("DE89370400440532013000".utf8)
        for index in 2..<digits.count {
            for other in UInt8(ascii: "0")...UInt8(ascii: "9") where other != digits[index] {
                var wrong = digits
                wrong[index] = other
                #expect(isRefused(wrong))
            }
            guard index + 1 < digits.count, digits[index] != digits[index + 1] else { continue }
            var swapped = digits
            swapped.swapAt(index, index + 1)
            #expect(isRefused(swapped))
        }
    }

    private func isRefused(_ iban: Bytes) -> Bool {
        let text = String(decoding: iban, as: UTF8.self)
        return refusal { () throws(InvalidValue) in try Account(iban: text) } == "iban_checksum"
    }

    @Test func `of other schemes are taken as they are`() throws {
        let account = try Account(scheme: "sort_code-uk", value: "20-00-00:55779911")
        #expect(account.text == "sort_code-uk:20-00-00:55779911")
        #expect(try Account(text: account.text) == account)
        #expect(account.json == ["scheme": "sort_code-uk", "value": "20-00-00:55779911"])
        #expect(
            try Account(iban: "BE68539007547034").json == ["iban": "BE68539007547034"])
    }

    @Test(arguments: [
        ("a", "1", nil), (String(repeating: "a", count: 32), "1", nil),
        ("a", String(repeating: "~", count: 64), nil),
        ("", "1", "account_scheme"), (String(repeating: "a", count: 33), "1", "account_scheme"),
        ("iban", "DE89370400440532013000", "account_scheme"), ("IBAN", "1", "account_scheme"),
        ("a:b", "1", "account_scheme"), ("a b", "1", "account_scheme"),
        ("é", "1", "account_scheme"), ("a", "", "account_value"),
        ("a", String(repeating: "1", count: 65), "account_value"), ("a", "1 2", "account_value"),
        ("a", "1\t", "account_value"), ("a", "1\u{7F}", "account_value"),
        ("a", "é", "account_value"), ("a", "1\u{200B}", "account_value"),
    ])
    func `of other schemes have limits`(scheme: String, value: String, code: String?) {
        #expect(
            refusal { () throws(InvalidValue) in try Account(scheme: scheme, value: value) } == code
        )
    }

    @Test(arguments: [
        "", "iban", "iban:", ":", ":1", "scheme:", "DE89370400440532013000",
        "IBAN:DE89370400440532013000", "iban:de89370400440532013000",
        "iban: DE89370400440532013000", "iban::DE89370400440532013000", " iban:BE68539007547034",
    ])
    func `are read from exactly the text that they write`(text: String) {
        #expect(accepted { () throws(InvalidValue) in try Account(text: text) } == nil)
    }
}

/// An IBAN of any length with the right check digits.
private func madeIBAN(_ country: String, length: Int) -> String {
    let account = String(repeating: "7", count: length - 4)
    let letters = country.utf8.map { String($0 - 0x41 + 10) }.joined()
    let remainder = (account + letters + "00").utf8.reduce(0) { ($0 * 10 + Int($1 - 0x30)) % 97 }
    let check = 98 - remainder
    return country + (check < 10 ? "0\(check)" : "\(check)") + account
}
