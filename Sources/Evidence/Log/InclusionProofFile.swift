package import Countersign

/// A proof that one leaf is in a log, which is verified with nothing but the leaf and the keys that are
/// trusted. Source: C2SP tlog-proof.
package struct InclusionProofFile: Hashable, Sendable {
    /// The first line.
    package static let version = "c2sp.org/tlog-proof@v1"

    /// Whatever else came along; nobody vouches for it. Not empty.
    package let extra: Bytes?
    /// The position of the leaf, from 0.
    package let index: Int64
    /// From the leaf's sibling to the root's child.
    package let hashes: [Digest]
    /// The checkpoint, with all its signatures.
    package let checkpoint: SignedNote

    /// - Parameters:
    ///   - extra: Not empty.
    ///   - index: Not below zero.
    ///   - hashes: At most ``TreeProof/hashesMax``.
    ///   - checkpoint: A ``Checkpoint`` of a tree that has the leaf.
    package init(extra: Bytes? = nil, index: Int64, hashes: [Digest], checkpoint: SignedNote) {
        precondition(
            index >= 0 && hashes.count <= TreeProof.hashesMax && extra?.isEmpty != true,
            "a proof has an index and few hashes")
        self.extra = extra
        self.index = index
        self.hashes = hashes
        self.checkpoint = checkpoint
    }

    /// Reads exactly what ``encoded`` writes; `nil` for anything else.
    package init?(decoding bytes: Bytes) {
        let lineFeed = UInt8(ascii: "\n")
        // The first empty line ends the proof's own lines.
        guard
            let end = bytes.indices.dropLast().first(where: {
                bytes[$0] == lineFeed && bytes[$0 + 1] == lineFeed
            }), let head = String(validating: bytes[..<end], as: UTF8.self),
            let checkpoint = SignedNote(decoding: Bytes(bytes[(end + 2)...])),
            Checkpoint(text: checkpoint.text) != nil
        else { return nil }
        var lines = head.utf8.split(separator: lineFeed, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }[...]
        guard lines.popFirst() == Self.version else { return nil }
        var extra: Bytes?
        if let line = lines.first, line.hasPrefix("extra ") {
            extra = Base64.decode(line.dropFirst("extra ".count))
            guard extra?.isEmpty == false else { return nil }
            lines.removeFirst()
        }
        guard let line = lines.popFirst(), line.hasPrefix("index "),
            let index = PlainDecimal.parse(line.dropFirst("index ".count))
        else { return nil }
        let hashes = lines.compactMap { Base64.decode($0).flatMap(Digest.init) }
        guard hashes.count == lines.count, hashes.count <= TreeProof.hashesMax else { return nil }
        self.init(extra: extra, index: index, hashes: hashes, checkpoint: checkpoint)
        guard encoded == bytes else { return nil }
    }

    /// The version, the extra line if there is one, the index, the hashes, an empty line and the checkpoint.
    package var encoded: Bytes { head + checkpoint.encoded }

    /// All that comes before the checkpoint, the empty line with it.
    package var head: Bytes {
        var head = Self.version + "\n"
        if let extra { head += "extra \(Base64.encode(extra))\n" }
        head += "index \(index)\n"
        for hash in hashes { head += Base64.encode(hash.bytes) + "\n" }
        return Bytes(head.utf8) + [UInt8(ascii: "\n")]
    }
}
