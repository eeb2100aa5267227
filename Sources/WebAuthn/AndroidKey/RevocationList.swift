package import Countersign
import Crypto

/// Google's list of attestation certificates that no longer count, as a file the operator fetched.
///
/// Source: AK-06; `https://android.googleapis.com/attestation/status`. This service has no network of
/// its own here, so the file's age is judged wherever the list is used.
package struct RevocationList: Sendable {
    /// The longest file that is read; the real one has about 200 KB.
    package static let bytesMax = 16 << 20

    /// Why a file is no list.
    package enum Failure: Error, Hashable, Sendable {
        case malformed
    }

    /// When the file was fetched.
    package let fetchedAt: Instant
    private let serials: Set<String>

    /// Reads `{"entries": {"serial": {"status": …}}}`.
    ///
    /// Every entry revokes: REVOKED and SUSPENDED both, and a status that this version does not know.
    package init(json bytes: Bytes, fetchedAt: Instant) throws(Failure) {
        guard bytes.count <= Self.bytesMax,
            case .object(let entries)? = SignedJSON.decode(bytes)?["entries"],
            // Google's list is never empty; one that is would let everything pass.
            !entries.isEmpty
        else { throw .malformed }
        var serials: Set<String> = []
        for entry in entries {
            guard entry.value["status"]?.text != nil,
                let serial = Self.normalised(entry.name)
            else { throw .malformed }
            serials.insert(serial)
        }
        self.fetchedAt = fetchedAt
        self.serials = serials
    }

    /// Whether a certificate of that serial (``Certificate/serial``) is on the list.
    package func contains(serial: String) -> Bool { serials.contains(serial) }

    /// Lower-case hexadecimal without leading zeros, as ``Certificate/serial`` writes it.
    private static func normalised(_ text: String) -> String? {
        let digits = text.lowercased()
        guard !digits.isEmpty,
            digits.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        let stripped = digits.drop { $0 == "0" }
        return stripped.isEmpty ? "0" : String(stripped)
    }
}
