import Countersign

/// One block of RFC 7468, in the layout that writers produce and nothing looser.
enum PEM {
    /// The longest text that is read, in UTF-8 units; the keys of this service need about 250.
    static let textUnitsMax = 4096

    /// The bytes of a text that is exactly one block of that label.
    ///
    /// Lines end in LF or CRLF and may have any length; the last line's end may be missing. Text before
    /// or after, a second block, headers and white space are refused: the stored key must be the one
    /// that the sender meant, without a choice.
    static func decode(_ text: String, label: String, unitsMax: Int = textUnitsMax) -> Bytes? {
        guard text.utf8.count <= unitsMax else { return nil }
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? Bytes($0.dropLast()) : Bytes($0) }
        if lines.last == [] { lines.removeLast() }
        guard lines.count >= 3,
            lines.removeFirst() == Bytes("-----BEGIN \(label)-----".utf8),
            lines.removeLast() == Bytes("-----END \(label)-----".utf8),
            lines.allSatisfy({ !$0.isEmpty })
        else { return nil }
        return Base64.decode(String(decoding: lines.joined(), as: UTF8.self))
    }

    /// The bytes of every block of that label, in their order; what stands between blocks is ignored, as
    /// RFC 7468 §2 has it. `nil` when a block is not closed or not base64.
    ///
    /// For files of the operator, such as lists of trust anchors.
    static func decodeAll(_ text: String, label: String, unitsMax: Int) -> [Bytes]? {
        guard text.utf8.count <= unitsMax else { return nil }
        var blocks: [Bytes] = []
        var block: Bytes?
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.elementsEqual("-----BEGIN \(label)-----".utf8) {
                guard block == nil else { return nil }
                block = []
            } else if line.elementsEqual("-----END \(label)-----".utf8) {
                guard let base64 = block,
                    let bytes = Base64.decode(String(decoding: base64, as: UTF8.self))
                else { return nil }
                blocks.append(bytes)
                block = nil
            } else {
                block?.append(contentsOf: line)
            }
        }
        return block == nil ? blocks : nil
    }

    /// RFC 7468 with lines of 64 characters and a final LF.
    static func encode(_ bytes: Bytes, label: String) -> String {
        let base64 = Array(Base64.encode(bytes).utf8)
        var text = "-----BEGIN \(label)-----\n"
        for start in stride(from: 0, to: base64.count, by: 64) {
            let line = base64[start..<min(start + 64, base64.count)]
            text += String(decoding: line, as: UTF8.self) + "\n"
        }
        return text + "-----END \(label)-----\n"
    }
}
