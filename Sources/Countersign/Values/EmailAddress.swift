/// One plain e-mail address: `dot-atom@domain` in ASCII, with its case kept.
///
/// Source: RFC 5321 §4.1.2 and §4.5.3.1, RFC 5322 §3.2.3, RFC 1035 §2.3.1. Left out on purpose:
/// quoted local parts, comments, address literals, display names, lists, and anything outside
/// ASCII (an internationalised domain is written with its `xn--` labels).
package struct EmailAddress: Hashable, Sendable {
    package let text: String

    /// Takes the exact text; the customer signs it as it is.
    ///
    /// - Throws: `email_format` or `email_too_long`.
    package init(_ text: some StringProtocol) throws(InvalidValue) {
        let units = Bytes(text.utf8)
        guard units.count <= 254 else {
            throw InvalidValue("email_too_long", "An e-mail address has at most 254 characters.")
        }
        let parts = units.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, EmailAddress.isLocalPart(parts[0]),
            EmailAddress.isDomain(parts[1])
        else {
            throw InvalidValue(
                "email_format", "This is not one plain e-mail address like name@example.org.")
        }
        self.text = String(decoding: units, as: UTF8.self)
    }

    private static func isLocalPart(_ units: ArraySlice<UInt8>) -> Bool {
        guard units.count <= 64 else { return false }
        return units.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .allSatisfy { atom in !atom.isEmpty && atom.allSatisfy(isAtomText) }
    }

    private static func isAtomText(_ unit: UInt8) -> Bool {
        unit.isLetter || unit.isDigit || atomPunctuation.contains(unit)
    }

    private static func isDomain(_ units: ArraySlice<UInt8>) -> Bool {
        let labels = units.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, let top = labels.last else { return false }
        // A numeric top label would be an IPv4 address.
        return labels.allSatisfy(isLabel) && !top.allSatisfy(\.isDigit)
    }

    private static func isLabel(_ units: ArraySlice<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(units.count) && units.first != hyphen && units.last != hyphen
            && units.allSatisfy { $0.isLetter || $0.isDigit || $0 == hyphen }
    }

    private static let atomPunctuation = Bytes("!#$%&'*+-/=?^_`{|}~".utf8)
}
