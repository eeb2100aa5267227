package import Countersign

/// One signature line of a note.
package struct NoteSignature: Hashable, Sendable {
    /// The name of the key.
    package let name: String
    /// 4 bytes, which tell keys of one name apart.
    package let keyID: Bytes
    /// Whatever the kind of the key makes; for a cosignature the time comes before the signature.
    package let signature: Bytes

    /// - Parameters:
    ///   - name: A name as ``VerifierKey/isName(_:)`` allows.
    ///   - keyID: 4 bytes.
    ///   - signature: At least one byte.
    package init(name: String, keyID: Bytes, signature: Bytes) {
        precondition(
            VerifierKey.isName(name) && keyID.count == 4 && !signature.isEmpty,
            "a signature line has a name, a key ID and a signature")
        self.name = name
        self.keyID = keyID
        self.signature = signature
    }

    /// An em dash and a space.
    private static let mark = Bytes("\u{2014} ".utf8)

    /// Reads the line without its end; `nil` when it is spelled in any other way.
    init?(line: ArraySlice<UInt8>) {
        guard line.starts(with: Self.mark),
            let text = String(validating: line.dropFirst(Self.mark.count), as: UTF8.self)
        else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard parts.count == 2, VerifierKey.isName(String(parts[0])),
            let bytes = Base64.decode(parts[1]), bytes.count > 4
        else { return nil }
        self.init(
            name: String(parts[0]), keyID: Bytes(bytes.prefix(4)),
            signature: Bytes(bytes.dropFirst(4)))
    }

    /// The line with its end.
    package var line: Bytes {
        Self.mark + Bytes("\(name) \(Base64.encode(keyID + signature))\n".utf8)
    }
}

/// A text and the signatures over it. Source: C2SP signed-note.
package struct SignedNote: Hashable, Sendable {
    /// C2SP asks for at least 16.
    package static let signaturesMax = 64

    /// What is signed, with the line feed at its end.
    package let text: Bytes
    /// 1 to ``signaturesMax``, in their order.
    package let signatures: [NoteSignature]

    /// - Parameters:
    ///   - text: Lines of UTF-8, the last one ended, without control characters.
    ///   - signatures: 1 to ``signaturesMax``.
    package init(text: Bytes, signatures: [NoteSignature]) {
        precondition(
            Self.isText(text) && 1...Self.signaturesMax ~= signatures.count,
            "a note has lines and signatures")
        self.text = text
        self.signatures = signatures
    }

    /// Reads exactly what ``encoded`` writes; `nil` for anything else.
    package init?(decoding bytes: Bytes) {
        let lineFeed = UInt8(ascii: "\n")
        // The last empty line ends the text.
        guard bytes.count > 2, bytes.last == lineFeed,
            let end = bytes.indices.dropLast().last(where: {
                bytes[$0] == lineFeed && bytes[$0 + 1] == lineFeed
            })
        else { return nil }
        let lines = bytes[(end + 2)...].dropLast()
            .split(separator: lineFeed, omittingEmptySubsequences: false)
        let signatures = lines.compactMap(NoteSignature.init(line:))
        guard Self.isText(Bytes(bytes[...end])), signatures.count == lines.count,
            1...Self.signaturesMax ~= signatures.count
        else { return nil }
        self.init(text: Bytes(bytes[...end]), signatures: signatures)
    }

    private static func isText(_ bytes: Bytes) -> Bool {
        bytes.last == UInt8(ascii: "\n")
            && bytes.allSatisfy { $0 >= 0x20 || $0 == UInt8(ascii: "\n") }
            && String(validating: bytes, as: UTF8.self) != nil
    }

    /// The text, an empty line, and a line for each signature.
    package var encoded: Bytes {
        text + [UInt8(ascii: "\n")] + signatures.flatMap(\.line)
    }
}
