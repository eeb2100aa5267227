package import Countersign

/// All that must be known of a tree to append to it and to state its root: its right edge.
package struct TreeEdge: Hashable, Sendable {
    /// The number of leaves.
    package private(set) var size: Int64
    /// From level 0 upwards, the hashes of the tile that is not yet full, fewer than 256 each: as many as
    /// the digit of ``size`` in base 256. The last level is never empty.
    package private(set) var levels: [[Digest]]

    /// A tree without leaves.
    package init() {
        size = 0
        levels = []
    }

    /// Takes a stored edge; `nil` unless each level has as many hashes as a tree of that size.
    package init?(size: Int64, levels: [[Digest]]) {
        guard size >= 0, levels.map(\.count) == Self.places(in: size).map(\.width) else {
            return nil
        }
        self.size = size
        self.levels = levels
    }

    /// The last tile of each level of a tree of that size, from level 0 upwards, and how many hashes it has:
    /// fewer than 256, and none where the level below ends with a full tile.
    package static func places(in size: Int64) -> [(place: Tile.Place, width: Int)] {
        var places: [(place: Tile.Place, width: Int)] = []
        var rest = size
        while rest > 0 {
            let (index, width) = rest.quotientAndRemainder(dividingBy: Int64(Tile.width))
            places.append((Tile.Place(level: places.count, index: index), Int(width)))
            rest = index
        }
        return places
    }

    /// Appends leaves.
    ///
    /// - Parameter leafHashes: The leaf hashes, in the order of their positions.
    /// - Returns: The tiles that became full, of all levels, each after those that it is over. They will
    ///   never change.
    package mutating func append(_ leafHashes: some Sequence<Digest>) -> [Tile] {
        leafHashes.flatMap { append($0) }
    }

    private mutating func append(_ leafHash: Digest) -> [Tile] {
        var full: [Tile] = []
        var hash = leafHash
        var index = size
        for level in 0... {
            if level == levels.count { levels.append([]) }
            levels[level].append(hash)
            guard levels[level].count == Tile.width else { break }
            index /= Int64(Tile.width)
            full.append(
                Tile(place: Tile.Place(level: level, index: index), hashes: levels[level]))
            hash = MerkleTree.root(ofPerfect: levels[level])
            levels[level] = []
        }
        size += 1
        return full
    }

    /// The tiles that are not yet full, from level 0 upwards; a checkpoint of this size needs them too.
    package var partialTiles: [Tile] {
        zip(Self.places(in: size), levels).compactMap { last, hashes in
            hashes.isEmpty ? nil : Tile(place: last.place, hashes: hashes)
        }
    }

    /// The Merkle tree hash over all leaves. Source: RFC 6962 §2.1.
    package var root: Digest {
        let peaks = levels.reversed().flatMap(Self.peaks)
        return MerkleTree.root(ofDescending: peaks) ?? MerkleTree.emptyRoot
    }

    /// The roots of the perfect trees over the hashes of a partial tile, the largest first.
    private static func peaks(_ hashes: [Digest]) -> [Digest] {
        var peaks: [Digest] = []
        var rest = hashes[...]
        while !rest.isEmpty {
            let count = 1 << rest.count.log2
            peaks.append(MerkleTree.root(ofPerfect: rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return peaks
    }
}
