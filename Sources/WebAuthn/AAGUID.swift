package import Countersign

/// The model of an authenticator, chosen by its maker. Source: WebAuthn L3 §6.5.1.
///
/// It is only the authenticator's word until an attestation proves it, also with format `none`, where
/// L3 no longer blanks it (WX-16).
package struct AAGUID: Hashable, Sendable {
    /// Always 16 bytes.
    package let bytes: Bytes

    /// All zeros: the authenticator does not say, or is older than AAGUIDs.
    package static let unknown = AAGUID(unchecked: Bytes(repeating: 0, count: bytesCount))
    private static let bytesCount = 16

    private init(unchecked bytes: Bytes) { self.bytes = bytes }

    /// Takes exactly 16 bytes; anything else is `nil`.
    package init?(_ bytes: Bytes) {
        guard bytes.count == Self.bytesCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 8-4-4-4-12 hexadecimal digits in either case; anything else is `nil`.
    package init?(text: some StringProtocol) {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            let bytes = Hex.decode(groups.joined())
        else { return nil }
        self.init(bytes)
    }

    /// In the form of a UUID, in lower case.
    package var text: String {
        let digits = Hex.encode(bytes)
        var groups: [Substring] = []
        var rest = digits[...]
        for count in [8, 4, 4, 4, 12] {
            groups.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return groups.joined(separator: "-")
    }
}
