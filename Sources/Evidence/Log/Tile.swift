package import Countersign

/// Up to 256 neighbouring hashes of one level of the tree, as they are stored and served.
///
/// At level 0 they are leaf hashes; each hash of a level above is the root over one full tile below.
/// Source: C2SP tlog-tiles, "Merkle Tree".
package struct Tile: Hashable, Sendable {
    /// Where a tile is: at which level, and which one of that level from the left, both from 0.
    package struct Place: Hashable, Sendable {
        package let level: Int
        package let index: Int64

        package init(level: Int, index: Int64) {
            self.level = level
            self.index = index
        }
    }

    /// How many hashes a full tile has.
    package static let width = 256

    package let place: Place
    /// 1 to 256 of them.
    package let hashes: [Digest]

    /// - Parameters:
    ///   - place: Where it is.
    ///   - hashes: 1 to 256 hashes.
    package init(place: Place, hashes: [Digest]) {
        precondition(1...Self.width ~= hashes.count, "a tile has 1 to 256 hashes")
        self.place = place
        self.hashes = hashes
    }

    /// Reads 32 bytes for each of 1 to 256 hashes; `nil` for any other length.
    package init?(place: Place, bytes: Bytes) {
        guard let hashes = Self.hashes(bytes), 1...Self.width ~= hashes.count else { return nil }
        self.place = place
        self.hashes = hashes
    }

    /// Reads hashes that stand one after another, 32 bytes each; `nil` when the last is cut off.
    package static func hashes(_ bytes: Bytes) -> [Digest]? {
        guard bytes.count % 32 == 0 else { return nil }
        return stride(from: 0, to: bytes.count, by: 32)
            .compactMap { Digest(Bytes(bytes[$0..<$0 + 32])) }
    }

    /// The hashes one after another, 32 bytes each.
    package var bytes: Bytes { hashes.flatMap(\.bytes) }
}

/// Up to 256 neighbouring leaves, as they are served beside the tile of level 0 over them.
///
/// Source: C2SP tlog-tiles, "Log entries".
package struct EntryTile: Hashable, Sendable {
    /// The longest entry that has a length in two bytes.
    package static let entryBytesMax = 65_535

    /// 1 to 256 of them, in their order.
    package let entries: [Bytes]

    /// Takes 1 to 256 entries of at most ``entryBytesMax`` bytes; anything else is `nil`.
    package init?(entries: [Bytes]) {
        guard 1...Tile.width ~= entries.count,
            entries.allSatisfy({ $0.count <= Self.entryBytesMax })
        else { return nil }
        self.entries = entries
    }

    /// Reads what ``bytes`` writes; `nil` for anything else, also with bytes to spare.
    package init?(decoding bytes: Bytes) {
        var entries: [Bytes] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard rest.count >= count else { return nil }
            entries.append(Bytes(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        self.init(entries: entries)
    }

    /// The entries one after another, each after its length in two bytes, the higher first.
    package var bytes: Bytes {
        entries.flatMap {
            [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0
        }
    }
}
