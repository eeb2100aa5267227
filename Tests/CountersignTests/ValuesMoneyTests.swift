import Countersign
import TestSupport
import Testing

@Suite struct `Currencies` {
    @Test func `have the exponents of ISO 4217`() throws {
        guard
            case .object(let published)? = try Cases.vectors("iso4217-exponents.json")?["exponents"]
        else { return }
        for member in published {
            #expect(.integer(Int64(try Currency(member.name).decimals)) == member.value)
        }
    }

    /// Every three-letter word is tried, so none can have slipped into the table.
    @Test func `are the published ones and no others`() throws {
        guard
            case .object(let published)? = try Cases.vectors("iso4217-exponents.json")?["exponents"]
        else { return }
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { Unicode.Scalar($0) }
        var known = 0
        for first in letters {
            for second in letters {
                for third in letters
                where accepted({ () throws(InvalidValue) in
                    try Currency("\(first)\(second)\(third)")
                }) != nil {
                    known += 1
                }
            }
        }
        #expect(known == published.count)
    }

    @Test(arguments: [
        "", "EU", "EURO", "eur", "Eur", "EUR ", " EUR", "EUR\0", "€", "978", "XXX", "XTS", "XAU",
        "XDR", "ZZZ", "DEM", "ＥＵＲ", "SE\u{212A}", "H\u{212A}D", "E\u{0301}UR", "\u{0415}UR",
    ])
    func `are spelled exactly`(code: String) {
        #expect(refusal { () throws(InvalidValue) in try Currency(code) } == "currency_unknown")
    }
}

@Suite struct `Amounts` {
    @Test(arguments: [
        ("10", "EUR", 1000, "10.00"), ("10.0", "EUR", 1000, "10.00"),
        ("10.00", "EUR", 1000, "10.00"), ("0.01", "EUR", 1, "0.01"), ("0.5", "EUR", 50, "0.50"),
        ("120", "JPY", 120, "120"), ("1.234", "KWD", 1234, "1.234"), ("1.5", "HUF", 150, "1.50"),
        ("0.0001", "CLF", 1, "0.0001"), ("7", "CLF", 70_000, "7.0000"),
        ("9999999999999.99", "EUR", 999_999_999_999_999, "9999999999999.99"),
        ("999999999999999", "JPY", 999_999_999_999_999, "999999999999999"),
    ])
    func `have one text`(decimal: String, code: String, minorUnits: Int64, text: String) throws {
        let money = try Money(decimal: decimal, currency: try Currency(code))
        #expect(money.minorUnits == minorUnits)
        #expect(money.decimal == text)
        #expect(try Money(decimal: text, currency: money.currency) == money)
    }

    @Test(arguments: [
        "", ".", "5.", ".5", "01.00", "00", "00.5", "-1.00", "-0", "+1.00", "1.00-", "1e2", "1E2",
        "0x1F", "1_000", "1,000.00", "1.000,00", "1,5", "1 000", " 1", "1 ", "1\n", "1\0", "1..0",
        "1.0.0", "NaN", "inf", "１.００", "١", "1\u{0660}", "½", "1\u{200B}", "1.\u{0301}0", "€1",
        "1EUR", "1;", "−1",
    ])
    func `are refused in any other notation`(decimal: String) throws {
        let euro = try Currency("EUR")
        #expect(
            refusal { () throws(InvalidValue) in try Money(decimal: decimal, currency: euro) }
                == "amount_format")
    }

    @Test(arguments: [
        ("1.000", "EUR", "amount_decimals"), ("0.001", "EUR", "amount_decimals"),
        ("1.0", "JPY", "amount_decimals"), ("1.2345", "KWD", "amount_decimals"),
        ("1.00000", "CLF", "amount_decimals"), ("0", "EUR", "amount_zero"),
        ("0.00", "EUR", "amount_zero"), ("0", "JPY", "amount_zero"),
        ("10000000000000", "EUR", "amount_too_large"),
        ("10000000000000.00", "EUR", "amount_too_large"),
        ("1000000000000000", "JPY", "amount_too_large"),
        ("92233720368547758.08", "EUR", "amount_too_large"),
        ("184467440737095516.17", "EUR", "amount_too_large"),
        (String(repeating: "9", count: 400), "EUR", "amount_too_large"),
        ("0." + String(repeating: "0", count: 400), "EUR", "amount_decimals"),
    ])
    func `are refused outside their range`(decimal: String, code: String, reason: String) throws {
        let currency = try Currency(code)
        #expect(
            refusal { () throws(InvalidValue) in try Money(decimal: decimal, currency: currency) }
                == reason)
    }

    @Test func `of a policy may be zero but nothing else`() throws {
        let euro = try Currency("EUR")
        #expect(try Money(limit: "0", currency: euro).decimal == "0.00")
        #expect(try Money(limit: "0.00", currency: euro).minorUnits == 0)
        for other in ["-0", "-1", "0.000", "00", ""] {
            #expect(
                accepted { () throws(InvalidValue) in try Money(limit: other, currency: euro) }
                    == nil)
        }
    }

    /// Around each power of ten up to the largest amount, where digits and zeros move.
    @Test(arguments: ["JPY", "EUR", "KWD", "CLF"])
    func `are read again from their own text, whatever they are`(code: String) throws {
        let currency = try Currency(code)
        var power: Int64 = 1
        for _ in 0...15 {
            for units in [power - 1, power, power + 1, power / 3, power * 7 / 9]
            where units > 0 && units < 1_000_000_000_000_000 {
                let money = Money(minorUnits: units, currency: currency)
                #expect(try Money(decimal: money.decimal, currency: currency) == money)
            }
            power *= 10
        }
        let tooLarge = Money(minorUnits: 1_000_000_000_000_000, currency: currency).decimal
        #expect(
            refusal { () throws(InvalidValue) in try Money(decimal: tooLarge, currency: currency) }
                == "amount_too_large")
    }

    @Test func `below zero keep their sign in front`() throws {
        let euro = try Currency("EUR")
        #expect(Money(minorUnits: -5, currency: euro).decimal == "-0.05")
        #expect(
            Money(minorUnits: .min, currency: euro).decimal == "-92233720368547758.08")
    }
}
