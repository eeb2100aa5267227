/// Classes of UTF-8 code units.
///
/// Values are read unit by unit, never by `Character` or `String` comparison: Swift's `==` is
/// canonical equivalence, under which the Kelvin sign U+212A *is* the letter K.
extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isUpperCase: Bool { (0x41...0x5A).contains(self) }
    var isLowerCase: Bool { (0x61...0x7A).contains(self) }
    var isLetter: Bool { isUpperCase || isLowerCase }
    /// Printable without the space: U+0021 to U+007E.
    var isVisible: Bool { (0x21...0x7E).contains(self) }
}
