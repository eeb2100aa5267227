/// The form of the short words by which schemes, platforms and formats go.
enum Word {
    /// The same text when it is 1 to 32 of `[a-z0-9_-]`, else `nil`.
    static func read(_ text: some StringProtocol) -> String? {
        let units = Bytes(text.utf8)
        guard (1...32).contains(units.count),
            units.allSatisfy({
                $0.isLowerCase || $0.isDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            })
        else { return nil }
        return String(decoding: units, as: UTF8.self)
    }
}
