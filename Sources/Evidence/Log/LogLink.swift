package import Countersign
import Crypto

/// The number of a row, and a digest of it and of all rows before it: checkpoints, cosignatures and timestamps
/// have one each, since none of them is under the root.
///
/// Source: `docs/evidence-format.md`, "Links".
package struct LogLink: Hashable, Sendable {
    /// 1 for the first, without gaps.
    package let number: Int64
    /// 32 bytes; empty before the first.
    package let link: Bytes

    /// Before the first row.
    package static let none = LogLink(number: 0, link: [])

    package init(number: Int64, link: Bytes) {
        self.number = number
        self.link = link
    }

    /// The link of the next row.
    ///
    /// - Parameter columns: Its columns as text; the number comes before them.
    /// - Returns: Its number, and the digest of the link before, the number and the columns.
    package func next(_ columns: [String]) -> LogLink {
        let text = (["\(number + 1)"] + columns).joined(separator: "\n")
        return LogLink(number: number + 1, link: sha256(link + Bytes(text.utf8)).bytes)
    }
}
