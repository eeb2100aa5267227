import Countersign
import Evidence
import HTTP
import Postgres

/// Writes the log to a directory, in the layout in which it is served (C2SP tlog-tiles), for whatever copies
/// it to storage that nobody can change.
///
/// Tiles and entries come before the checkpoint that needs them, and full tiles are never written again.
struct LogMirror: Sendable {
    /// Why nothing was read or written.
    enum Failure: Error {
        /// The log does not have what it has promised, or not yet.
        case incomplete
        /// A file cannot be written or read.
        case disk(MirrorFolder.Failure)
        /// The checkpoint is no signed note.
        case damaged
        /// The log is another than is held here.
        case other
        /// There is no checkpoint, though some were published: perhaps the disk is not there.
        case empty
        case store(StoreFailure)
    }

    let folder: MirrorFolder
    let reader: PostgresLogReader
    var failpoints: Failpoints?

    private static let checkpoint = "checkpoint"
    /// A file that says of a directory without a checkpoint that it is a mirror which begins. Without it, a disk
    /// that is not mounted would count as a mirror that was never given anything.
    static let beginning = "new-mirror"

    /// The newest checkpoint in the directory; `nil` when it is a mirror that begins. One begins by itself only
    /// while nothing was published.
    ///
    /// - Throws: ``Failure`` when there is one that cannot be read: that is not the same as none.
    func newest() async throws(Failure) -> SignedNote? {
        if let bytes = try await read(Self.checkpoint) {
            guard let note = SignedNote(decoding: bytes) else { throw .damaged }
            return note
        }
        if try await read(Self.beginning) != nil { return nil }
        guard try await published() == nil else { throw .empty }
        try await write([], to: Self.beginning)
        return nil
    }

    /// Brings the directory up to the newest published checkpoint.
    ///
    /// - Returns: How many tiles of entries were left out, since their month was detached.
    /// - Throws: ``Failure``; the next call goes on where this one ended.
    func update() async throws(Failure) -> Int {
        guard let published = try await published() else { return 0 }
        let newest = try await newest()
        var before: Int64 = 0
        if let newest { before = try await size(of: newest, continuedBy: published.note) }
        let paths = Self.paths(from: before, to: published.size)
        var leftOut = 0
        for path in paths {
            // What is full is there for ever, unless this was interrupted before its checkpoint.
            if let content = try await resource(path) {
                try await write(content, to: path.text)
            } else {
                guard try await isDetached(path) else { throw .incomplete }
                leftOut += 1
            }
        }
        // A second in which nothing happened writes nothing.
        if newest?.encoded != published.note {
            failpoints?.pass(.logBeforeMirror)
            try await write(published.note, to: Self.checkpoint)
        }
        do throws(MirrorFolder.Failure) {
            try await folder.remove(Self.beginning)
            // Who needs a part of it finds that in the whole.
            for path in paths where path.isFull { try await folder.remove(path.text + ".p") }
        } catch { throw .disk(error) }
        return leftOut
    }

    /// The size of what is held here, which is never overwritten by a log that does not continue it.
    private func size(
        of newest: SignedNote, continuedBy published: Bytes
    ) async throws(Failure) -> Int64 {
        guard let old = Checkpoint(text: newest.text),
            let new = SignedNote(decoding: published).flatMap({ Checkpoint(text: $0.text) }),
            old.origin == new.origin
        else { throw .damaged }
        // Another instance with the same directory has been quicker.
        guard old.size <= new.size else { throw .incomplete }
        let proof: [Digest]?
        do throws(StoreFailure) {
            proof = try await reader.consistency(from: old.size, to: new.size)
        } catch { throw .store(error) }
        guard
            let proof,
            TreeProof.isConsistent(
                from: old.size, root: old.root, to: new.size, root: new.root, by: proof)
        else { throw .other }
        return old.size
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

    private func published() async throws(Failure) -> (size: Int64, note: Bytes)? {
        do throws(StoreFailure) { return try await reader.published() } catch {
            throw .store(error)
        }
    }

    private func resource(_ path: TilePath) async throws(Failure) -> Bytes? {
        do throws(StoreFailure) { return try await reader.resource(path.text) } catch {
            throw .store(error)
        }
    }

    private func isDetached(_ path: TilePath) async throws(Failure) -> Bool {
        guard case .entries(let index, let count) = path else { return false }
        let first = index * Int64(Tile.width)
        do throws(StoreFailure) {
            return try await reader.isDetached(first..<first + Int64(count))
        } catch { throw .store(error) }
    }

    private func read(_ name: String) async throws(Failure) -> Bytes? {
        do throws(MirrorFolder.Failure) { return try await folder.read(name) } catch {
            throw .disk(error)
        }
    }

    private func write(_ content: Bytes, to name: String) async throws(Failure) {
        do throws(MirrorFolder.Failure) { try await folder.write(content, to: name) } catch {
            throw .disk(error)
        }
    }
}

extension LogMirror.Failure {
    /// What an operator is told.
    var fields: [LogField] {
        switch self {
        case .incomplete: [.code("cause", "incomplete")]
        case .disk(let failure):
            [
                .code("cause", "disk"),
                .code("path", checking: failure.path.isEmpty ? "." : failure.path),
            ]
        case .damaged: [.code("cause", "damaged")]
        case .other: [.code("cause", "other")]
        case .empty: [.code("cause", "empty")]
        case .store(let failure): [.failure("cause", failure)]
        }
    }
}

/// Keeps the mirror up to the newest published checkpoint, until its task is cancelled.
struct LogMirrorKeeper: Sendable {
    let mirror: LogMirror
    let metrics: LogMetrics

    private static let interval = Duration.seconds(1)

    func run() async {
        while !Task.isCancelled {
            do throws(LogMirror.Failure) {
                let leftOut = try await mirror.update()
                if leftOut > 0 { Log.event(.logMirrorGap, .count("tiles", leftOut)) }
                metrics.mirrored(at: .now)
            } catch {
                if case .other = error {
                    metrics.mismatched("mirror")
                } else {
                    Log.event(.logMirrorFailed, error.fields)
                }
            }
            await pause(Self.interval)
        }
    }
}
