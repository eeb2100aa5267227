/// An International Bank Account Number in its electronic form: upper case, no spaces.
///
/// Source: ISO 13616-1 and the IBAN registry, ISO 7064 MOD 97-10.
struct Iban: Hashable, Sendable {
    let text: String

    /// Reads the electronic or the printed form, in either case.
    ///
    /// Only ASCII spaces are removed. Any other foreign character is refused rather than dropped,
    /// so that no look-alike is ever mapped onto a real account.
    ///
    /// - Throws: `iban_format`, `iban_country`, `iban_length` or `iban_checksum`.
    init(_ text: some StringProtocol) throws(InvalidValue) {
        let units = text.utf8.filter { $0 != UInt8(ascii: " ") }
            .map { $0.isLowerCase ? $0 - 0x20 : $0 }
        guard units.count >= 4, units.allSatisfy({ $0.isUpperCase || $0.isDigit }),
            units[0].isUpperCase, units[1].isUpperCase, units[2].isDigit, units[3].isDigit
        else {
            throw InvalidValue(
                "iban_format",
                "An IBAN is two letters, two digits, then letters and digits of ASCII.")
        }
        let country = String(decoding: units[0..<2], as: UTF8.self)
        guard let length = Iban.lengthByCountry[country] else {
            throw InvalidValue("iban_country", "The IBAN registry does not know this country.")
        }
        guard units.count == length else {
            throw InvalidValue("iban_length", "An IBAN of this country has \(length) characters.")
        }
        let check = (units[2] - 0x30) * 10 + (units[3] - 0x30)
        // MOD 97-10 makes check digits from 02 to 98; 00, 01 and 99 have the same remainders.
        guard (2...98).contains(check), Iban.remainder(units[4...] + units[0..<4]) == 1 else {
            throw InvalidValue("iban_checksum", "The check digits do not fit the rest of the IBAN.")
        }
        self.text = String(decoding: units, as: UTF8.self)
    }

    /// Remainder by 97, a letter being the two digits 10 (A) to 35 (Z).
    private static func remainder(_ units: some Sequence<UInt8>) -> Int {
        units.reduce(0) { remainder, unit in
            unit.isDigit
                ? (remainder * 10 + Int(unit - 0x30)) % 97
                : (remainder * 100 + Int(unit - 0x41) + 10) % 97
        }
    }

    private static let lengthByCountry: [String: Int] = {
        var table: [String: Int] = [:]
        for (length, countries) in countriesByLength {
            for country in countries.split(separator: " ") { table[String(country)] = length }
        }
        return table
    }()

    /// Lengths by country: the registry, and the countries that use IBANs ahead of it.
    private static let countriesByLength: [(Int, String)] = [
        (15, "NO"),
        (16, "BE"),
        (18, "AX DK FI FK FO GL NL SD"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU MN XK"),
        (21, "CH HR LI LV"),
        (22, "BG BH CR DE GB GE GG IE IM JE ME RS VA"),
        (23, "AE GI IL IQ OM SO TL"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
        (25, "AO CV GW LY MZ PT ST"),
        (26, "DZ IR IS TR"),
        (
            27,
            """
            BI BL CF CG CM DJ FR GA GF GP GQ GR IT KM MC MF MG MQ MR NC PF PM RE SM TD \
            TF WF YT
            """
        ),
        (28, "AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU YE"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    ]
}
