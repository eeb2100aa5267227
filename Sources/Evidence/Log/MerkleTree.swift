package import Countersign
import Crypto

/// The hashes of a Merkle tree. Source: RFC 6962 §2.1, RFC 9162 §2.1.1.
///
/// A leaf hash is ``EvidenceSealer/leafHash(_:)``.
package enum MerkleTree {
    /// The root of a tree without leaves: the SHA-256 of nothing.
    package static let emptyRoot = sha256([])

    /// The hash of a node over its two children: `SHA-256(0x01 ‖ left ‖ right)`.
    package static func node(_ left: Digest, _ right: Digest) -> Digest {
        sha256([0x01] + left.bytes + right.bytes)
    }

    /// The root over hashes that are 1, 2, 4, 8, … in number.
    static func root(ofPerfect hashes: some Collection<Digest>) -> Digest {
        var row = Array(hashes)
        precondition(row.count.nonzeroBitCount == 1, "a perfect tree has a power of two of leaves")
        while row.count > 1 {
            row = stride(from: 0, to: row.count, by: 2).map { node(row[$0], row[$0 + 1]) }
        }
        return row[0]
    }

    /// The root over neighbouring perfect trees, each smaller than the one to its left; `nil` of none.
    static func root(ofDescending peaks: some BidirectionalCollection<Digest>) -> Digest? {
        guard let last = peaks.last else { return nil }
        return peaks.dropLast().reversed().reduce(last) { node($1, $0) }
    }
}

extension FixedWidthInteger {
    /// The exponent of the largest power of two that is not above this number, which is at least 1.
    var log2: Int {
        precondition(self > 0, "no power of two is below 1")
        return Self.bitWidth - 1 - leadingZeroBitCount
    }
}

/// A number as C2SP writes it.
enum PlainDecimal {
    /// Reads ASCII digits without a leading zero, up to the largest `Int64`; anything else is `nil`.
    static func parse(_ text: some StringProtocol) -> Int64? {
        let digits = text.utf8
        guard let first = digits.first, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            first != UInt8(ascii: "0") || digits.count == 1
        else { return nil }
        return Int64(text)
    }
}
