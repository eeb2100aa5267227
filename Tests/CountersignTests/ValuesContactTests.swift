import Countersign
import TestSupport
import Testing

@Suite struct `Phone numbers` {
    private func code(_ text: String) -> String? {
        refusal { () throws(InvalidValue) in try PhoneNumber(text) }
    }

    @Test func `published as valid are accepted, as invalid refused`() throws {
        guard let cases = try Cases.vectors("e164.json")?["cases"],
            case .array(let valid)? = cases["valid"], case .array(let invalid)? = cases["invalid"]
        else { return }
        for text in valid.compactMap(\.text) { #expect(try PhoneNumber(text).text == text) }
        for case .array(let pair) in invalid { #expect(code(pair.first?.text ?? "") != nil) }
    }

    @Test(arguments: [
        "+43555555", "+4915112345678", "+14155552671", "+393123456789", "+390612345678",
        "+2250701020304", "+77011234567", "+35351234567", "+870772001234", "+4412345",
        "+492345678901234",
    ])
    func `are taken as they are`(text: String) throws {
        #expect(try PhoneNumber(text).text == text)
    }

    @Test(arguments: [
        ("", "phone_format"), ("+", "phone_format"), ("14155552671", "phone_format"),
        ("0049151123456", "phone_format"), ("++4915112345678", "phone_format"),
        ("+49+15112345678", "phone_format"), ("+49 15112345678", "phone_format"),
        ("+49-15112345678", "phone_format"), ("+49(0)15112345678", "phone_format"),
        (" +4915112345678", "phone_format"), ("+4915112345678\n", "phone_format"),
        ("+4915112345678;ext=1", "phone_format"), ("tel:+4915112345678", "phone_format"),
        ("+٤٤١٦١١٢٣٤٥٦٧", "phone_format"), ("＋4915112345678", "phone_format"),
        ("+49151１2345678", "phone_format"), ("+4915112345678\0", "phone_format"),
        ("+491234", "phone_format"), ("+4912345678901234", "phone_format"),
        ("+0123456789", "phone_country"), ("+999123456789", "phone_country"),
        ("+2101234567", "phone_country"), ("+888123456789", "phone_country"),
        ("+979123456789", "phone_country"), ("+8001", "phone_format"),
        ("+4901511234567", "phone_national_number"), ("+4401611234567", "phone_national_number"),
        ("+1415555267", "phone_national_number"), ("+141555526711", "phone_national_number"),
        ("+11234567890", "phone_national_number"), ("+10234567890", "phone_national_number"),
    ])
    func `are refused in any other spelling`(text: String, reason: String) {
        #expect(code(text) == reason)
    }

    /// Source: the list of assigned codes; the neighbours of a code are not all assigned.
    @Test(arguments: [
        ("299", true), ("214", false), ("420", true), ("422", false), ("850", true), ("851", false),
        ("881", true), ("889", false), ("998", true), ("999", false), ("1", true), ("7", true),
    ])
    func `begin with an assigned country code`(country: String, isAssigned: Bool) {
        #expect(code("+\(country)2345678901") == (isAssigned ? nil : "phone_country"))
    }
}

@Suite struct `E-mail addresses` {
    private func code(_ text: String) -> String? {
        refusal { () throws(InvalidValue) in try EmailAddress(text) }
    }

    @Test(arguments: [
        "a@b.cd", "Erika.Mustermann+bank@Example.ORG", "o'brien@example.org", "a@xn--mnchen-3ya.de",
        "!#$%&'*+-/=?^_`{|}~@example.org", "1@2.de", "a@1-2.3a", "a@a.b.c.d.e.org",
        String(repeating: "x", count: 64) + "@example.org",
        "a@" + String(repeating: "x", count: 63) + ".org",
    ])
    func `are taken as they are`(text: String) throws {
        #expect(try EmailAddress(text).text == text)
    }

    @Test(arguments: [
        "", "a", "@", "a@", "@b.cd", "a@b", "a@@b.cd", "a@b@c.de", "a b@c.de", " a@b.cd",
        "a@b.cd ", "a@b.cd\n", "a@b.cd\r\nBcc: x@y.zz", "a\0@b.cd", "a@b.cd,c@d.ef",
        "a@b.cd;c@d.ef", "A <a@b.cd>", "<a@b.cd>", "\"a\"@b.cd", "a(b)@c.de", ".a@b.cd", "a.@b.cd",
        "a..b@c.de", "a@.b.cd", "a@b.cd.", "a@b..cd", "a@-b.cd", "a@b-.cd", "a@b_c.de",
        "a@[127.0.0.1]", "a@127.0.0.1", "a@b.123", "a@münchen.de", "ä@b.cd", "a@b.c\u{212A}",
        "mi\u{212A}e@example.org", "ſam@example.org", "a@b．cd", "a＠b.cd", "a\u{200B}@b.cd",
        "a\\@b.cd", "a:b@c.de", "mailto:a@b.cd", "a@b.cd?x=y", "a%0a@b.cd\t",
        String(repeating: "x", count: 65) + "@example.org",
        "a@" + String(repeating: "x", count: 64) + ".org",
    ])
    func `are refused when they are anything more or less`(text: String) {
        #expect(code(text) == "email_format")
    }

    @Test func `have at most 254 bytes`() {
        let label = String(repeating: "x", count: 61) + "."
        let domain = label + label + label + label + "de"
        #expect(domain.utf8.count == 250)
        #expect(code("abc@" + domain) == nil)
        #expect(code("abcd@" + domain) == "email_too_long")
    }
}

@Suite struct `Names of customers and actions` {
    @Test(arguments: [
        "c-1001", "a", "A.b_c:d-9", "...", ".a", "-", String(repeating: "x", count: 64),
    ])
    func `are letters, digits and four signs`(text: String) throws {
        #expect(try CustomerID(text).text == text)
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "a b", "a%2Fb", "a\0", "é", "a\u{212A}", "a\n", "a?b", "a#b", "a@b",
        String(repeating: "x", count: 65),
    ])
    func `of customers are refused otherwise`(text: String) {
        #expect(
            refusal { () throws(InvalidValue) in try CustomerID(text) } == "customer_id_format")
    }

    @Test(arguments: [
        ("x", true), ("INV/7?a=\"b\"~!", true), (String(repeating: "x", count: 64), true),
        ("", false), (String(repeating: "x", count: 65), false), ("a b", false), ("a\n", false),
        ("a\u{7F}", false), ("é", false), ("a\u{200B}", false), ("\0", false),
    ])
    func `given by callers are visible ASCII`(text: String, isAccepted: Bool) {
        let code = refusal { () throws(InvalidValue) in try ExternalID(text) }
        #expect(code == (isAccepted ? nil : "external_id_format"))
    }
}
