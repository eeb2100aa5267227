package import Countersign

/// What a log says of itself at one size: the text that it signs. Source: C2SP tlog-checkpoint.
///
/// Stricter than C2SP: extension lines, which a log may write although it should not, are refused. This
/// log never writes them, and nobody could audit what they say.
package struct Checkpoint: Hashable, Sendable {
    /// The name of the log, which is also that of its key.
    package let origin: String
    /// The number of leaves.
    package let size: Int64
    /// The Merkle tree hash over them.
    package let root: Digest

    /// - Parameters:
    ///   - origin: A name as ``VerifierKey/isName(_:)`` allows.
    ///   - size: Not below zero.
    ///   - root: Of the tree of that size.
    package init(origin: String, size: Int64, root: Digest) {
        precondition(VerifierKey.isName(origin) && size >= 0, "a log has a name and a size")
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// Reads exactly what ``text`` writes; `nil` for anything else.
    package init?(text: Bytes) {
        guard let string = String(validating: text, as: UTF8.self) else { return nil }
        let lines = string.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).map { Substring($0) }
        guard lines.count == 4, lines[3].isEmpty, VerifierKey.isName(String(lines[0])),
            let size = PlainDecimal.parse(lines[1]),
            let root = Base64.decode(lines[2]).flatMap(Digest.init)
        else { return nil }
        self.init(origin: String(lines[0]), size: size, root: root)
    }

    /// Three lines: the origin, the size in decimal, the root in base64.
    package var text: Bytes {
        Bytes("\(origin)\n\(size)\n\(Base64.encode(root.bytes))\n".utf8)
    }
}
