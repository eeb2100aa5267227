import Countersign
import Crypto
import Dispatch
import Foundation

/// The files of the mirror. Each appears at once or not at all, and is on the disk before the next is written.
///
/// Files block, and a network's disk may for ever: all of it happens on a queue of its own, and is waited for only
/// so long.
final class MirrorFolder: Sendable {
    /// A file that cannot be read or written.
    struct Failure: Error {
        /// Below the folder; empty for the folder itself.
        let path: String
    }

    private let path: String
    private let deadline: Duration
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - path: A directory that exists.
    ///   - deadline: How long a file may take; whoever leads the log waits for it.
    ///   - queue: Serial; where files are read and written.
    init(
        _ path: String, deadline: Duration = .seconds(10),
        on queue: DispatchQueue = DispatchQueue(label: "countersign.mirror")
    ) {
        self.path = path
        self.deadline = deadline
        self.queue = queue
    }

    /// - Returns: `nil` when there is no such file in the folder.
    /// - Throws: ``Failure``, also when there is no folder.
    func read(_ name: String) async throws(Failure) -> Bytes? {
        try await onQueue(name) { folder in
            guard FileManager.default.fileExists(atPath: folder + "/" + name) else {
                guard FileManager.default.fileExists(atPath: folder) else {
                    throw Failure(path: "")
                }
                return nil
            }
            return Bytes(try Data(contentsOf: URL(filePath: folder + "/" + name)))
        }
    }

    /// Writes a file beside its place, renames it, and waits until it is on the disk.
    ///
    /// - Throws: ``Failure``.
    func write(_ content: Bytes, to name: String) async throws(Failure) {
        try await onQueue(name) { folder in
            let target = URL(filePath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(content).write(to: target, options: .atomic)
            let file = try FileHandle(forUpdating: target)
            try file.synchronize()
            try file.close()
        }
    }

    /// Removes a file or a directory with all that is in it; nothing when there is none.
    ///
    /// - Throws: ``Failure``.
    func remove(_ name: String) async throws(Failure) {
        try await onQueue(name) { folder in
            let target = folder + "/" + name
            guard FileManager.default.fileExists(atPath: target) else { return }
            try FileManager.default.removeItem(atPath: target)
        }
    }

    private func onQueue<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable (String) throws -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let waiting = Locked(Optional(continuation))
            @Sendable func answer(_ result: Result<Value, Failure>) {
                let continuation = waiting.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }
                continuation?.resume(returning: result)
            }
            queue.async { [path] in
                // Nobody waits for what comes too late.
                guard waiting.withLock({ $0 != nil }) else { return }
                do {
                    answer(.success(try body(path)))
                } catch {
                    answer(.failure(error as? Failure ?? Failure(path: name)))
                }
            }
            DispatchQueue.global().asyncAfter(
                deadline: .now() + .milliseconds(Int(deadline.inSeconds * 1000))
            ) { answer(.failure(Failure(path: name))) }
        }
        return try result.get()
    }
}
