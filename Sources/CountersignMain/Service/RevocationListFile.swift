import Countersign
import Crypto
import Foundation
import WebAuthn

/// The operator's copy of Google's list of revoked certificates, as it was read last.
///
/// Who decides about a key asks for ``current``, which reads no file; who is about to decide calls
/// ``refresh()`` first. The file is read again only when it is another one than before.
final class RevocationListFile: Sendable {
    /// What tells one edition of the file from another without reading it.
    private struct Edition: Hashable {
        let modified: Date
        let size: UInt64
        let number: UInt64
    }

    private struct State {
        var edition: Edition?
        var list: RevocationList?
    }

    private let path: String
    private let state = Locked(State())
    /// Where files are read, one after another: reading blocks, and no thread of Swift's pool may.
    private let queue = DispatchQueue(label: "countersign.revocations")

    /// Reads the file for the first time.
    init(_ path: String) {
        self.path = path
        read()
    }

    /// `nil` for a file that cannot be read, which means as much as none: nothing attested is believed.
    var current: RevocationList? { state.withLock { $0.list } }

    /// Reads the file again if it has changed.
    func refresh() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.read()
                continuation.resume()
            }
        }
    }

    private func read() {
        let found = edition()
        guard found == nil || found != state.withLock({ $0.edition }) else { return }
        let read = State(edition: found, list: found.flatMap { list(of: $0) })
        state.withLock { $0 = read }
    }

    private func edition() -> Edition? {
        do {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard let modified = attributes[.modificationDate] as? Date,
                let size = (attributes[.size] as? NSNumber)?.uint64Value
            else { return nil }
            return Edition(
                modified: modified, size: size,
                number: (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0)
        } catch {
            return nil
        }
    }

    /// The list is as old as its file.
    private func list(of edition: Edition) -> RevocationList? {
        guard edition.size <= RevocationList.bytesMax,
            let content = FileManager.default.contents(atPath: path)
        else { return nil }
        let milliseconds = Int64(edition.modified.timeIntervalSince1970 * 1000)
        do {
            return try RevocationList(
                json: Bytes(content), fetchedAt: Instant(milliseconds: milliseconds))
        } catch {
            return nil
        }
    }
}
