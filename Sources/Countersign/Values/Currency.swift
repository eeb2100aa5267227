/// A currency of ISO 4217 that has a minor unit, so that an amount of it can be counted.
///
/// Codes without one (precious metals, testing, "no currency") are no currency here.
package struct Currency: Hashable, Sendable {
    /// Three upper-case letters.
    package let code: String
    /// How many decimals an amount has; the minor unit is 10 to the power of minus this.
    package let decimals: Int

    /// Takes the exact upper-case code; nothing is trimmed or folded.
    ///
    /// - Throws: `currency_unknown`.
    package init(_ code: some StringProtocol) throws(InvalidValue) {
        let units = Bytes(code.utf8)
        // Only when all units are ASCII letters does comparing strings compare their bytes.
        guard units.count == 3, units.allSatisfy(\.isUpperCase) else { throw Currency.unknown }
        let text = String(decoding: units, as: UTF8.self)
        guard let decimals = Currency.decimalsByCode[text] else { throw Currency.unknown }
        self.code = text
        self.decimals = decimals
    }

    private static let unknown = InvalidValue(
        "currency_unknown", "This is not the code of an ISO 4217 currency with a minor unit.")

    private static let decimalsByCode: [String: Int] = {
        var table: [String: Int] = [:]
        for (decimals, codes) in codesByDecimals {
            for code in codes.split(separator: " ") { table[String(code)] = decimals }
        }
        return table
    }()

    /// ISO 4217 list one. Exponents of CLDR differ (HUF, IDR, IQD …) and must not be used.
    private static let codesByDecimals: [(Int, String)] = [
        (0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
        (3, "BHD IQD JOD KWD LYD OMR TND"),
        (4, "CLF UYW"),
        (
            2,
            """
            AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN \
            BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD \
            FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW \
            KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR \
            MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG \
            SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD \
            USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG
            """
        ),
    ]
}
