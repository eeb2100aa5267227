import Countersign
import Crypto
import Foundation

/// Why a journal cannot be used. The text is for the operator.
struct JournalFailure: Error, CustomStringConvertible {
    let description: String
}

/// An append-only file of JSON lines, each on the disk before anyone hears of it.
///
/// One process at a time has it open. Not safe for use from several threads: ``Ledger`` queues.
final class Journal {
    private let file: FileHandle
    private let path: String
    /// After a failed write or fsync nobody knows what is on the disk; only reading it again tells.
    private var isBroken = false

    /// Opens or creates the file, takes its lock and reads what it holds.
    ///
    /// A last line without its end was being written when the process died. Nobody has heard of it, so
    /// it is cut off. Any other unreadable line is damage, and ends the attempt.
    ///
    /// - Parameters:
    ///   - path: The file; its folder has to exist.
    ///   - read: Takes each line; `false` for one that it cannot read.
    /// - Throws: ``JournalFailure``, or Foundation's error for a file that cannot be read or written.
    init(path: String, read: (JSON) -> Bool) throws {
        if !FileManager.default.fileExists(atPath: path) {
            guard
                FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw JournalFailure(description: "cannot create \(path)") }
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw JournalFailure(description: "cannot open \(path)")
        }
        self.file = file
        self.path = path
        guard flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw JournalFailure(description: "\(path) is in use by another process")
        }
        let bytes = Bytes(try file.readToEnd() ?? Data())
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        for (index, line) in bytes[..<whole].split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let json = SignedJSON.decode(Bytes(line)), read(json) else {
                throw JournalFailure(description: "\(path): line \(index + 1) is damaged")
            }
        }
        try file.truncate(atOffset: UInt64(whole))
        try file.synchronize()
        try Self.synchronizeFolder(of: path)
    }

    /// Writes one line and returns once it is on the disk.
    func append(_ json: JSON) throws {
        guard !isBroken else { throw JournalFailure(description: "\(path) has failed before") }
        isBroken = true
        try file.seekToEnd()
        try file.write(contentsOf: Data(json.encoded + [UInt8(ascii: "\n")]))
        try file.synchronize()
        isBroken = false
    }

    /// Gives the lock back, so that another may open the file; nothing can be appended afterwards.
    ///
    /// Unlocked by name, not left to closing: a process that was just forked off still has the file open.
    func close() throws {
        isBroken = true
        flock(file.fileDescriptor, LOCK_UN)
        try file.close()
    }

    /// A new file's name is in its folder, which has to reach the disk too.
    private static func synchronizeFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let handle = FileHandle(forReadingAtPath: folder) else {
            throw JournalFailure(description: "cannot open \(folder)")
        }
        try handle.synchronize()
        try handle.close()
    }
}
