import Countersign
import Evidence
import Foundation
import Postgres

/// Writes the log to a directory, in the layout in which it is served (C2SP tlog-tiles), for whatever copies
/// it to storage that nobody can change.
///
/// Tiles and entries come before the checkpoint that needs them, each file appears at once or not at all, and
/// full tiles are never written again.
struct LogMirror: Sendable {
    /// Why nothing was written.
    enum Failure: Error {
        /// The log does not have what it has promised, or not yet.
        case incomplete
        /// A file cannot be written or read.
        case disk
    }

    let folder: String
    let reader: PostgresLogReader

    private var checkpointPath: String { folder + "/checkpoint" }

    /// The newest checkpoint in the directory; `nil` when there is none.
    ///
    /// - Throws: ``Failure/disk`` when there is one that cannot be read: that is not the same as none.
    func newest() throws(Failure) -> SignedNote? {
        guard FileManager.default.fileExists(atPath: checkpointPath) else {
            guard FileManager.default.fileExists(atPath: folder) else { throw .disk }
            return nil
        }
        do {
            let bytes = Bytes(try Data(contentsOf: URL(filePath: checkpointPath)))
            guard let note = SignedNote(decoding: bytes) else { throw Failure.disk }
            return note
        } catch {
            throw .disk
        }
    }

    /// Brings the directory up to the newest published checkpoint.
    ///
    /// - Throws: ``Failure``, or ``StoreFailure``; the next call goes on where this one ended.
    func update() async throws {
        guard let published = try await reader.published() else { return }
        let before = try newest().flatMap { Checkpoint(text: $0.text) }?.size ?? 0
        guard published.size >= before else { throw Failure.incomplete }
        for path in Self.paths(from: before, to: published.size) {
            // What is full is there for ever, unless this was interrupted before its checkpoint.
            guard let content = try await reader.resource(path.text) else {
                throw Failure.incomplete
            }
            try write(content, to: path.text)
        }
        try write(published.note, to: "checkpoint")
    }

    /// What a log of one size has and a log of a smaller one has not.
    static func paths(from old: Int64, to new: Int64) -> [TilePath] {
        let width = Int64(Tile.width)
        var paths: [TilePath] = []
        var before = old
        var after = new
        var level = 0
        while after > 0 {
            for index in before / width...max(before / width, (after - 1) / width) {
                let count = Int(min(width, after - index * width))
                guard count > 0, index * width + Int64(count) > before else { continue }
                paths.append(.hashes(Tile.Place(level: level, index: index), width: count))
                if level == 0 { paths.append(.entries(index: index, width: count)) }
            }
            before /= width
            after /= width
            level += 1
        }
        return paths
    }

    private func write(_ content: Bytes, to path: String) throws(Failure) {
        let target = URL(filePath: folder + "/" + path)
        do {
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            // Written beside its place and renamed.
            try Data(content).write(to: target, options: .atomic)
        } catch {
            throw .disk
        }
    }
}
