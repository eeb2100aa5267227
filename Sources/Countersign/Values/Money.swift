/// An amount of one currency, counted in its minor unit.
///
/// Every amount has exactly one text, ``decimal``: the text that is stored, shown, signed and
/// executed. There is no arithmetic and no `<`: they would have to answer something for two
/// currencies, so limits count minor units of the one currency that is decided about.
package struct Money: Hashable, Sendable {
    /// Minor units: cents for EUR, yen for JPY, thousandths for KWD.
    package let minorUnits: Int64
    package let currency: Currency

    /// Wraps a count of minor units, such as one that was stored; may be negative or zero.
    package init(minorUnits: Int64, currency: Currency) {
        self.minorUnits = minorUnits
        self.currency = currency
    }

    /// Reads an amount to pay: a positive decimal number with at most the currency's decimals.
    ///
    /// ASCII digits with at most one `.` between them; no sign, exponent, grouping or white space
    /// and no leading zero except the one of `0.5`. Fewer decimals are taken (`10` is `10.00`),
    /// more are refused even when they are zero. Written with all its decimals it has at most 15
    /// digits, so that ``decimal`` can always be read again.
    ///
    /// - Throws: `amount_format`, `amount_decimals`, `amount_too_large` or `amount_zero`.
    package init(decimal: some StringProtocol, currency: Currency) throws(InvalidValue) {
        try self.init(limit: decimal, currency: currency)
        guard minorUnits > 0 else {
            throw InvalidValue("amount_zero", "An amount must be greater than zero.")
        }
    }

    /// Reads an amount of a policy by the same rules, except that zero is allowed.
    ///
    /// - Throws: `amount_format`, `amount_decimals` or `amount_too_large`.
    package init(limit decimal: some StringProtocol, currency: Currency) throws(InvalidValue) {
        let units = Bytes(decimal.utf8)
        let parts = units.split(
            separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
        let whole = parts[0]
        let fraction = parts.count > 1 ? parts[1] : []
        guard parts.count <= 2, !whole.isEmpty, parts.count == 1 || !fraction.isEmpty,
            whole.allSatisfy(\.isDigit), fraction.allSatisfy(\.isDigit),
            whole.count == 1 || whole.first != UInt8(ascii: "0")
        else {
            throw InvalidValue(
                "amount_format", "An amount is digits with at most one decimal point, like 120.00.")
        }
        guard fraction.count <= currency.decimals else {
            throw InvalidValue("amount_decimals", "The currency has fewer decimals than that.")
        }
        guard whole.count + currency.decimals <= Money.digitsMax else {
            throw InvalidValue(
                "amount_too_large",
                "An amount has at most \(Money.digitsMax) digits, its decimals included.")
        }
        let missing = currency.decimals - fraction.count
        let digits = whole + fraction + Bytes(repeating: UInt8(ascii: "0"), count: missing)
        // At most 15 digits were let through, so this cannot overflow.
        minorUnits = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        self.currency = currency
    }

    /// The digits of the longest amount that is read, decimals included.
    static let digitsMax = 15
}

extension Money {
    /// The one text of this amount: exactly the currency's decimals, `.` before them, no grouping.
    package var decimal: String {
        let sign = minorUnits < 0 ? "-" : ""
        let digits = String(minorUnits.magnitude)
        guard currency.decimals > 0 else { return sign + digits }
        let zeros = max(0, currency.decimals + 1 - digits.utf8.count)
        let padded = String(repeating: "0", count: zeros) + digits
        return "\(sign)\(padded.dropLast(currency.decimals)).\(padded.suffix(currency.decimals))"
    }
}
