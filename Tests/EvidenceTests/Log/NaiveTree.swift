import Countersign
import Crypto
import Evidence

/// A tree as RFC 6962 §2.1 defines it, by recursion over all leaves, and nothing clever.
struct NaiveTree {
    let leafHashes: [Digest]

    /// Leaves that say only which one they are.
    init(size: Int) {
        leafHashes = (0..<size).map { EvidenceSealer.leafHash(Bytes("leaf \($0)".utf8)) }
    }

    var size: Int64 { Int64(leafHashes.count) }

    func root(of size: Int64) -> Digest { hash(0..<Int(size)) }

    private func hash(_ range: Range<Int>) -> Digest {
        if range.isEmpty { return sha256([]) }
        if range.count == 1 { return leafHashes[range.lowerBound] }
        var half = 1
        while half * 2 < range.count { half *= 2 }
        let middle = range.lowerBound + half
        return sha256(
            [0x01] + hash(range.lowerBound..<middle).bytes + hash(middle..<range.upperBound).bytes)
    }
}

/// A tree with all its tiles, as a log keeps them.
struct TiledTree {
    private(set) var edge = TreeEdge()
    private(set) var full: [Tile.Place: [Digest]] = [:]

    init(_ leafHashes: some Sequence<Digest>) { append(leafHashes) }

    mutating func append(_ leafHashes: some Sequence<Digest>) {
        for tile in edge.append(leafHashes) { full[tile.place] = tile.hashes }
    }

    func hashes(_ place: Tile.Place) -> [Digest]? {
        full[place] ?? edge.partialTiles.first { $0.place == place }?.hashes
    }
}
