package import Countersign
package import Evidence

extension TreeProof {
    /// Whether a proof shows that the tree of the first size and root is the beginning of the other.
    ///
    /// Source: RFC 9162 §2.1.4.2. An empty tree is the beginning of every tree, and no proof is needed. This is what
    /// a witness does with what the log sends; the service itself never asks.
    ///
    /// - Parameters:
    ///   - old: The first size.
    ///   - oldRoot: Its root.
    ///   - new: The other size.
    ///   - newRoot: Its root.
    ///   - proof: The hashes.
    /// - Returns: Whether it is a proof of that.
    package static func isConsistent(
        from old: Int64, root oldRoot: Digest, to new: Int64, root newRoot: Digest,
        by proof: [Digest]
    ) -> Bool {
        guard old >= 0, old <= new else { return false }
        guard old < new else { return oldRoot == newRoot && proof.isEmpty }
        guard old > 0 else { return oldRoot == MerkleTree.emptyRoot && proof.isEmpty }
        // Step 1 and 2: a perfect tree is itself the first node, and the proof does not repeat it.
        guard !proof.isEmpty else { return false }
        var path = (old.nonzeroBitCount == 1 ? [oldRoot] : []) + proof
        // Steps 3 to 5.
        var (node, last) = (old - 1, new - 1)
        while node & 1 == 1 {
            node >>= 1
            last >>= 1
        }
        var oldHash = path.removeFirst()
        var newHash = oldHash
        // Step 6.
        for hash in path {
            guard last > 0 else { return false }
            if node & 1 == 1 || node == last {
                oldHash = MerkleTree.node(hash, oldHash)
                newHash = MerkleTree.node(hash, newHash)
                while node & 1 == 0, node != 0 {
                    node >>= 1
                    last >>= 1
                }
            } else {
                newHash = MerkleTree.node(newHash, hash)
            }
            node >>= 1
            last >>= 1
        }
        // Step 7.
        return oldHash == oldRoot && newHash == newRoot && last == 0
    }
}
