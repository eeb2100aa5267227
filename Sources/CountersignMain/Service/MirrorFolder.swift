import Countersign
import Dispatch
import Foundation

/// The files of the mirror. Each appears at once or not at all, and is on the disk before the next is written.
///
/// Files block, and a network's disk may for long: all of it happens on a queue of its own.
final class MirrorFolder: Sendable {
    /// A file that cannot be read or written.
    struct Failure: Error {
        /// Below the folder; empty for the folder itself.
        let path: String
    }

    private let path: String
    private let queue = DispatchQueue(label: "countersign.mirror")

    /// - Parameter path: A directory that exists.
    init(_ path: String) { self.path = path }

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
            queue.async { [path] in
                do {
                    continuation.resume(returning: .success(try body(path)))
                } catch {
                    continuation.resume(
                        returning: .failure(error as? Failure ?? Failure(path: name)))
                }
            }
        }
        return try result.get()
    }
}
