/// An account at some bank: an IBAN, or a value in another scheme.
package struct Account: Hashable, Sendable {
    /// How an account is written, for those who show its parts.
    package enum Form: Hashable, Sendable {
        /// An IBAN in upper case without spaces.
        case iban(String)
        /// `scheme` is 1 to 32 of `[a-z0-9_-]` and never `iban`; `value` 1 to 64 visible ASCII.
        case other(scheme: String, value: String)
    }

    package let form: Form

    /// Reads an IBAN, printed or electronic, in either case, and normalises it.
    ///
    /// - Throws: `iban_format`, `iban_country`, `iban_length` or `iban_checksum`.
    package init(iban: some StringProtocol) throws(InvalidValue) {
        form = .iban(try Iban(iban).text)
    }

    /// Takes an account of another scheme exactly as it is.
    ///
    /// - Throws: `account_scheme` or `account_value`.
    package init(
        scheme: some StringProtocol, value: some StringProtocol
    ) throws(InvalidValue) {
        guard let word = Word.read(scheme), Bytes(word.utf8) != Account.ibanScheme else {
            throw InvalidValue(
                "account_scheme", "A scheme is 1 to 32 of a-z, 0-9, _ and -, and not iban.")
        }
        let valueUnits = Bytes(value.utf8)
        guard (1...64).contains(valueUnits.count), valueUnits.allSatisfy(\.isVisible) else {
            throw InvalidValue(
                "account_value", "The value is 1 to 64 visible ASCII characters without spaces.")
        }
        form = .other(scheme: word, value: String(decoding: valueUnits, as: UTF8.self))
    }

    /// Reads back what ``text`` wrote: `iban:…` or `scheme:value`, split at the first colon.
    ///
    /// An IBAN must be in its normal form here, since this text is what was signed.
    ///
    /// - Throws: `account_format`, or what the other initialisers throw.
    package init(text: some StringProtocol) throws(InvalidValue) {
        let units = Bytes(text.utf8)
        guard let colon = units.firstIndex(of: UInt8(ascii: ":")) else {
            throw InvalidValue("account_format", "An account is iban:<IBAN> or <scheme>:<value>.")
        }
        let scheme = units[..<colon]
        let value = String(decoding: units[(colon + 1)...], as: UTF8.self)
        guard scheme == Account.ibanScheme[...] else {
            try self.init(scheme: String(decoding: scheme, as: UTF8.self), value: value)
            return
        }
        try self.init(iban: value)
        guard self.text.utf8.elementsEqual(units) else {
            throw InvalidValue("account_format", "The IBAN is not in its normal form.")
        }
    }

    /// The account as one string, as it is signed and stored.
    package var text: String {
        switch form {
        case .iban(let iban): "iban:\(iban)"
        case .other(let scheme, let value): "\(scheme):\(value)"
        }
    }

    /// `{"iban": …}` or `{"scheme": …, "value": …}`.
    package var json: JSON {
        switch form {
        case .iban(let iban): ["iban": .string(iban)]
        case .other(let scheme, let value): ["scheme": .string(scheme), "value": .string(value)]
        }
    }

    private static let ibanScheme = Bytes("iban".utf8)
}
