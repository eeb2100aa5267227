import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `A proof from tiles` {
    private static let naive = NaiveTree(size: 66_100)

    /// Trees of every small size, some around the width of a tile, and two around its square.
    static let sizes: [Int64] =
        Array(1...20) + [31, 32, 33, 255, 256, 257, 258, 511, 512, 513, 600, 65_536, 66_100]

    private static let trees = Dictionary(
        uniqueKeysWithValues: sizes.map {
            ($0, TiledTree(naive.leafHashes.prefix(Int($0))))
        })

    private func positions(in size: Int64) -> [Int64] {
        let known: [Int64] = [0, 1, 2, 3, 127, 128, 254, 255, 256, 257, 65_535, 65_536]
        let near = known.flatMap { [$0, size - 1 - $0] }
        return Set(size <= 33 ? Array(0..<size) : near.filter { 0..<size ~= $0 }).sorted()
    }

    @Test(arguments: sizes)
    func `leads from each leaf to the root, with the tiles that it names and no others`(
        size: Int64
    ) throws {
        let tree = try #require(Self.trees[size])
        for position in positions(in: size) {
            var asked: Set<Tile.Place> = []
            let proof = try #require(
                TreeProof.inclusion(of: position, in: size) {
                    asked.insert($0)
                    return tree.hashes($0)
                })
            #expect(asked == TreeProof.tiles(forInclusionOf: position, in: size))
            #expect(
                TreeProof.root(of: leaf(position), at: position, in: size, by: proof)
                    == tree.edge.root)
        }
    }

    @Test(arguments: sizes)
    func `is of no other leaf, position or size, and lets no hash be missing or more`(
        size: Int64
    ) throws {
        let tree = try #require(Self.trees[size])
        for position in positions(in: size) {
            let proof = try #require(
                TreeProof.inclusion(of: position, in: size, from: tree.hashes))
            func leads(
                _ hash: Digest, _ at: Int64, _ size: Int64, _ proof: [Digest]
            ) -> Bool {
                TreeProof.root(of: hash, at: at, in: size, by: proof) == tree.edge.root
            }
            #expect(leads(leaf(position), position, size, proof))
            #expect(!leads(sha256([1]), position, size, proof))
            for other in positions(in: size) where other != position {
                #expect(!leads(leaf(position), other, size, proof))
            }
            #expect(!leads(leaf(position), position, 2 * size + 1, proof))
            for at in [-1, size, size + 1] { #expect(!leads(leaf(position), at, size, proof)) }
            for wrong in proof.altered { #expect(!leads(leaf(position), position, size, wrong)) }
        }
    }

    @Test(arguments: sizes)
    func `shows that a tree has grown from each smaller one`(new: Int64) throws {
        let tree = try #require(Self.trees[new])
        for old in Self.sizes where old <= new {
            var asked: Set<Tile.Place> = []
            let proof = try #require(
                TreeProof.consistency(from: old, to: new) {
                    asked.insert($0)
                    return tree.hashes($0)
                })
            #expect(asked == TreeProof.tiles(forConsistencyFrom: old, to: new))
            let oldRoot = try #require(Self.trees[old]).edge.root
            func holds(
                _ old: Int64, _ oldRoot: Digest, _ new: Int64, _ newRoot: Digest,
                _ proof: [Digest]
            ) -> Bool {
                TreeProof.isConsistent(
                    from: old, root: oldRoot, to: new, root: newRoot, by: proof)
            }
            #expect(holds(old, oldRoot, new, tree.edge.root, proof))
            #expect(!holds(old, sha256([1]), new, tree.edge.root, proof))
            #expect(!holds(old, oldRoot, new, sha256([1]), proof))
            if old < new { #expect(!holds(new, tree.edge.root, old, oldRoot, proof)) }
            for wrong in proof.altered {
                #expect(!holds(old, oldRoot, new, tree.edge.root, wrong))
            }
            for (other, smaller) in Self.trees where other != old {
                #expect(!holds(other, smaller.edge.root, new, tree.edge.root, proof))
            }
        }
    }

    @Test func `needs none for the empty tree, which every tree grew from`() {
        let tree = TiledTree(Self.naive.leafHashes.prefix(5))
        #expect(TreeProof.consistency(from: 0, to: 5, from: tree.hashes) == [])
        let isFrom = { (root: Digest, proof: [Digest]) in
            TreeProof.isConsistent(
                from: 0, root: root, to: 5, root: tree.edge.root, by: proof)
        }
        #expect(isFrom(MerkleTree.emptyRoot, []))
        #expect(!isFrom(tree.edge.root, []))
        #expect(!isFrom(MerkleTree.emptyRoot, [leaf(0)]))
    }

    @Test func `is not made of tiles that are missing or too short`() {
        let tree = TiledTree(Self.naive.leafHashes.prefix(600))
        #expect(TreeProof.inclusion(of: 3, in: 600) { _ in nil } == nil)
        #expect(
            TreeProof.inclusion(of: 3, in: 600) { tree.hashes($0)?.dropLast() } == nil)
        #expect(TreeProof.inclusion(of: 3, in: 601, from: tree.hashes) == nil)
        #expect(TreeProof.inclusion(of: 600, in: 600, from: tree.hashes) == nil)
        #expect(TreeProof.inclusion(of: -1, in: 600, from: tree.hashes) == nil)
        #expect(TreeProof.consistency(from: 300, to: 601, from: tree.hashes) == nil)
        #expect(TreeProof.consistency(from: 601, to: 600, from: tree.hashes) == nil)
        #expect(TreeProof.consistency(from: -1, to: 600, from: tree.hashes) == nil)
    }

    /// A log keeps the full tile and deletes the partial one.
    @Test func `of an older size is made of tiles that have grown since`() throws {
        let now = TiledTree(Self.naive.leafHashes.prefix(600))
        let then = try #require(Self.trees[257])
        #expect(
            TreeProof.inclusion(of: 256, in: 257, from: now.hashes)
                == TreeProof.inclusion(of: 256, in: 257, from: then.hashes))
    }

    /// No tree is so large, but a size is only a number that somebody wrote.
    @Test func `of the largest size does not overflow`() {
        let size = Int64.max
        #expect(TreeProof.tiles(forInclusionOf: size - 1, in: size).count > 0)
        #expect(TreeProof.tiles(forConsistencyFrom: size - 1, to: size).count > 0)
        let full = Array(repeating: leaf(0), count: Tile.width)
        for position in [0, size / 2, size - 1] {
            let proof = TreeProof.inclusion(of: position, in: size) { _ in full } ?? []
            #expect(proof.count <= TreeProof.hashesMax)
            #expect(TreeProof.root(of: leaf(0), at: position, in: size, by: proof) != nil)
            #expect(TreeProof.root(of: leaf(0), at: position, in: size, by: proof + proof) == nil)
        }
        let proof = TreeProof.consistency(from: size - 1, to: size) { _ in full } ?? []
        #expect(
            !TreeProof.isConsistent(
                from: size - 1, root: leaf(0), to: size, root: leaf(0), by: proof))
    }

    private func leaf(_ position: Int64) -> Digest { Self.naive.leafHashes[Int(position)] }
}

extension [Digest] {
    /// The same proof with each hash missing, there twice, altered, or changed with its neighbour.
    fileprivate var altered: [[Digest]] {
        indices.flatMap { index -> [[Digest]] in
            var missing = self
            missing.remove(at: index)
            var twice = self
            twice.insert(self[index], at: index)
            var other = self
            other[index] = sha256([2])
            var swapped = self
            if index > 0 { swapped.swapAt(index - 1, index) }
            return [missing, twice, other] + (index > 0 ? [swapped] : [])
        } + [self + [sha256([3])]]
    }
}
