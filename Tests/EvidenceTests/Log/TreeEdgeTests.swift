import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `The edge of a tree` {
    @Test func `has at every size the root that RFC 6962 defines`() {
        let naive = NaiveTree(size: 600)
        var edge = TreeEdge()
        #expect(edge.root == naive.root(of: 0))
        for (index, hash) in naive.leafHashes.enumerated() {
            _ = edge.append([hash])
            #expect(edge.root == naive.root(of: Int64(index + 1)))
        }
        #expect(edge.size == 600)
    }

    @Test func `does not depend on how many leaves come at once`() throws {
        let naive = NaiveTree(size: 66_100)
        var generator = try SeededGenerator()
        var edge = TreeEdge()
        var tiles: [Tile] = []
        let stops =
            [255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 65_792, 66_100]
            + (0..<4).map { _ in Int.random(in: 1..<66_100, using: &generator) }
        for stop in stops.sorted() where stop > edge.size {
            tiles += edge.append(naive.leafHashes[Int(edge.size)..<stop])
            #expect(edge.root == naive.root(of: edge.size), "at \(stop), \(generator)")
        }
        #expect(tiles == TreeEdge().appending(naive.leafHashes))
        #expect(tiles.allSatisfy { $0.hashes.count == Tile.width })
    }

    @Test func `gives out a tile when it is full, and then the one that it fills`() throws {
        let tiles = TreeEdge().appending(NaiveTree(size: 65_536 + 255).leafHashes)
        #expect(tiles.count == 257)
        let zero = tiles.prefix(256).map(\.place)
        #expect(zero == (0..<256).map { Tile.Place(level: 0, index: $0) })
        #expect(tiles.last?.place == Tile.Place(level: 1, index: 0))
        // Each hash of the tile above is the root over the tile below.
        let naive = NaiveTree(size: 256)
        #expect(tiles.last?.hashes.first == naive.root(of: 256))
    }

    @Test func `knows the tiles that are not full`() throws {
        // The example of C2SP tlog-tiles.
        var edge = TreeEdge()
        _ = edge.append(NaiveTree(size: 70_000).leafHashes)
        #expect(
            edge.partialTiles.map(\.place) == [
                Tile.Place(level: 0, index: 273), Tile.Place(level: 1, index: 1),
                Tile.Place(level: 2, index: 0),
            ])
        #expect(edge.partialTiles.map(\.hashes.count) == [112, 17, 1])
        var full = TreeEdge()
        _ = full.append(NaiveTree(size: 256).leafHashes)
        #expect(full.partialTiles.map(\.place) == [Tile.Place(level: 1, index: 0)])
        #expect(TreeEdge().partialTiles == [])
    }

    @Test(arguments: [0, 1, 255, 256, 257, 600] as [Int64])
    func `is read again as it was stored`(size: Int64) throws {
        var edge = TreeEdge()
        _ = edge.append(NaiveTree(size: Int(size)).leafHashes)
        let stored = try #require(TreeEdge(size: edge.size, levels: edge.levels))
        #expect(stored == edge)
        #expect(TreeEdge(size: size + 1, levels: edge.levels) == nil)
        #expect(TreeEdge(size: -1, levels: edge.levels) == nil)
        #expect(TreeEdge(size: size, levels: edge.levels + [[]]) == nil)
        if size > 0 {
            #expect(TreeEdge(size: size - 1, levels: edge.levels) == nil)
            #expect(TreeEdge(size: size, levels: edge.levels.dropLast()) == nil)
        }
    }
}

extension TreeEdge {
    fileprivate func appending(_ leafHashes: [Digest]) -> [Tile] {
        var edge = self
        return edge.append(leafHashes)
    }
}
