/// The bank's own name for a customer: 1 to 64 of `[A-Za-z0-9._:-]`.
package struct CustomerID: Hashable, Sendable {
    package let text: String

    /// Takes the exact text; case matters.
    ///
    /// - Throws: `customer_id_format`.
    package init(_ text: some StringProtocol) throws(InvalidValue) {
        let units = Bytes(text.utf8)
        // Stricter than the class of characters: path segments `.` and `..` do not survive proxies.
        guard (1...64).contains(units.count), units.allSatisfy(CustomerID.allows),
            !CustomerID.pathSteps.contains(units)
        else {
            throw InvalidValue(
                "customer_id_format", "A customer ID is 1 to 64 letters, digits and . _ : -")
        }
        self.text = String(decoding: units, as: UTF8.self)
    }

    private static func allows(_ unit: UInt8) -> Bool {
        unit.isLetter || unit.isDigit || punctuation.contains(unit)
    }

    private static let punctuation = Bytes("._:-".utf8)
    private static let pathSteps = [Bytes(".".utf8), Bytes("..".utf8)]
}
