/// A caller's own reference to an action: 1 to 64 visible ASCII characters.
package struct ExternalID: Hashable, Sendable {
    package let text: String

    /// Takes the exact text; case matters.
    ///
    /// - Throws: `external_id_format`.
    package init(_ text: some StringProtocol) throws(InvalidValue) {
        let units = Bytes(text.utf8)
        guard (1...64).contains(units.count), units.allSatisfy(\.isVisible) else {
            throw InvalidValue(
                "external_id_format", "An external ID is 1 to 64 visible ASCII characters.")
        }
        self.text = String(decoding: units, as: UTF8.self)
    }
}
