package import Countersign

/// Proofs that a leaf is in a tree, and that a tree only grew: made from tiles here, and verified in the
/// extension below. Everything is a pure function. Source: RFC 6962 §2.1.1 and §2.1.2.
package enum TreeProof {
    /// No proof of a tree with fewer than 2⁶³ leaves has more hashes.
    package static let hashesMax = 63

    /// The tiles that ``inclusion(of:in:from:)`` will ask for.
    package static func tiles(forInclusionOf position: Int64, in size: Int64) -> Set<Tile.Place> {
        guard position >= 0, position < size else { return [] }
        return places(inclusionRanges(position, 0..<size))
    }

    /// The tiles that ``consistency(from:to:from:)`` will ask for.
    package static func tiles(
        forConsistencyFrom old: Int64, to new: Int64
    ) -> Set<Tile.Place> {
        guard old > 0, old < new else { return [] }
        return places(consistencyRanges(old, 0..<new, isComplete: true))
    }

    /// The hashes that lead from a leaf to the root, the leaf's sibling first.
    ///
    /// - Parameters:
    ///   - position: Of the leaf, from 0.
    ///   - size: Of the tree.
    ///   - tile: The hashes of a tile: at least those that the tree of this size has.
    /// - Returns: `nil` when there is no such leaf, or a tile is missing or too short.
    package static func inclusion(
        of position: Int64, in size: Int64, from tile: (Tile.Place) -> [Digest]?
    ) -> [Digest]? {
        guard position >= 0, position < size else { return nil }
        return hashes(of: inclusionRanges(position, 0..<size), from: tile)
    }

    /// The hashes that show that the tree of size `old` is the beginning of the tree of size `new`.
    ///
    /// - Returns: `nil` when `old` is above `new`, or a tile is missing or too short. Empty when the sizes
    ///   are the same or `old` is zero.
    package static func consistency(
        from old: Int64, to new: Int64, from tile: (Tile.Place) -> [Digest]?
    ) -> [Digest]? {
        guard old >= 0, old <= new else { return nil }
        guard old > 0, old < new else { return [] }
        return hashes(of: consistencyRanges(old, 0..<new, isComplete: true), from: tile)
    }

    /// The leaves under each hash of an inclusion proof. Source: RFC 6962 §2.1.1, `PATH`.
    private static func inclusionRanges(
        _ position: Int64, _ leaves: Range<Int64>
    ) -> [Range<Int64>] {
        guard leaves.count > 1 else { return [] }
        let (left, right) = halves(of: leaves)
        return left.contains(position)
            ? inclusionRanges(position, left) + [right] : inclusionRanges(position, right) + [left]
    }

    /// The leaves under each hash of a consistency proof. Source: RFC 6962 §2.1.2, `SUBPROOF`.
    private static func consistencyRanges(
        _ old: Int64, _ leaves: Range<Int64>, isComplete: Bool
    ) -> [Range<Int64>] {
        guard old < leaves.upperBound else { return isComplete ? [] : [leaves] }
        let (left, right) = halves(of: leaves)
        return old <= left.upperBound
            ? consistencyRanges(old, left, isComplete: isComplete) + [right]
            : consistencyRanges(old, right, isComplete: false) + [left]
    }

    /// The largest perfect tree to the left that leaves something to the right.
    private static func halves(of leaves: Range<Int64>) -> (Range<Int64>, Range<Int64>) {
        let middle = leaves.lowerBound + 1 << (leaves.count - 1).log2
        return (leaves.lowerBound..<middle, middle..<leaves.upperBound)
    }

    private static func places(_ ranges: [Range<Int64>]) -> Set<Tile.Place> {
        Set(ranges.flatMap(Subtree.covering).map(\.place))
    }

    private static func hashes(
        of ranges: [Range<Int64>], from tile: (Tile.Place) -> [Digest]?
    ) -> [Digest]? {
        var hashes: [Digest] = []
        for range in ranges {
            let peaks = Subtree.covering(range).compactMap { subtree in
                tile(subtree.place).flatMap(subtree.root)
            }
            guard peaks.count == Subtree.covering(range).count,
                let hash = MerkleTree.root(ofDescending: peaks)
            else { return nil }
            hashes.append(hash)
        }
        return hashes
    }
}

/// A perfect tree of 2^`height` leaves, the `number`th of its kind from the left.
private struct Subtree {
    let height: Int
    let number: Int64

    /// The perfect trees over a range that begins where a tree of at least its length may begin.
    static func covering(_ leaves: Range<Int64>) -> [Subtree] {
        var subtrees: [Subtree] = []
        var start = leaves.lowerBound
        while start < leaves.upperBound {
            let height = (leaves.upperBound - start).log2
            subtrees.append(Subtree(height: height, number: start >> height))
            start += 1 << height
        }
        return subtrees
    }

    /// How many levels of the tree a tile spans.
    private static let tileHeight = 8

    /// The first of the hashes under this tree, counted over all tiles of its level.
    private var first: Int64 { number << (height % Self.tileHeight) }

    /// The one tile that has all those hashes.
    var place: Tile.Place {
        Tile.Place(level: height / Self.tileHeight, index: first / Int64(Tile.width))
    }

    /// The root, from the hashes of that tile.
    func root(of tile: [Digest]) -> Digest? {
        let start = Int(first % Int64(Tile.width))
        let count = 1 << (height % Self.tileHeight)
        guard tile.count >= start + count else { return nil }
        return MerkleTree.root(ofPerfect: tile[start..<start + count])
    }
}

extension TreeProof {
    /// The root that a proof leads to from a leaf. Source: RFC 9162 §2.1.3.2.
    ///
    /// - Returns: `nil` when there is no such position, or the proof is too short or too long for it.
    package static func root(
        of leafHash: Digest, at position: Int64, in size: Int64, by proof: [Digest]
    ) -> Digest? {
        guard position >= 0, position < size else { return nil }
        var (node, last) = (position, size - 1)
        var root = leafHash
        for hash in proof {
            guard last > 0 else { return nil }
            if isRight(node, last) {
                root = MerkleTree.node(hash, root)
                climb(&node, &last)
            } else {
                root = MerkleTree.node(root, hash)
            }
            node >>= 1
            last >>= 1
        }
        return last == 0 ? root : nil
    }

    /// Whether the sibling is to the left.
    private static func isRight(_ node: Int64, _ last: Int64) -> Bool {
        node & 1 == 1 || node == last
    }

    /// Passes the levels at which the last node has no sibling.
    private static func climb(_ node: inout Int64, _ last: inout Int64) {
        while node & 1 == 0, node != 0 {
            node >>= 1
            last >>= 1
        }
    }
}
