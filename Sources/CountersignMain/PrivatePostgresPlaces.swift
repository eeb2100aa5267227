import Foundation

/// Where one private Postgres keeps what, and who may get there.
///
/// For an unprivileged user all is below the folder that was named. Root's is below `/var/tmp`, since
/// the unprivileged user that runs Postgres cannot enter, say, `/root`.
struct PrivatePostgresPlaces: Sendable {
    /// Only a part of the socket's name: nothing listens on TCP. Unusual, so that a `psql` with the
    /// wrong `PGPORT` cannot meet another server.
    static let port = 54_871
    /// The longest path of a Unix socket. Source: unix(7), `sun_path` less its terminating zero.
    static let socketPathBytesMax = 107

    /// The folder around the others; belongs to this process's user.
    let base: String
    let data: String
    /// The socket's folder; its path has no character that needs quoting anywhere.
    let socket: String
    let log: String
    private let owner: PrivatePostgresOwner

    var unfinished: String { base + "/unfinished" }
    var serverLock: String { data + "/postmaster.pid" }
    var socketLock: String { socket + "/.s.PGSQL.\(Self.port).lock" }

    /// - Parameters:
    ///   - directory: The folder that was named, absolute or from the current one.
    ///   - owner: The user of the server.
    /// - Throws: ``PrivatePostgresFailure`` when the path cannot be used.
    init(
        directory: String, owner: PrivatePostgresOwner
    ) throws(PrivatePostgresFailure) {
        let named = URL(filePath: directory).standardizedFileURL.resolvingSymlinksInPath().path
        let tag = Self.tag(of: named)
        base = owner.isAnother ? "/var/tmp/countersign-\(tag)" : named
        data = base + "/data"
        log = base + "/log"
        self.owner = owner
        let inside = base + "/socket"
        socket = Self.isUsable(socketFolder: inside) ? inside : "/tmp/countersign-\(tag)"
    }

    /// Makes the folder around the others, or finds it as this would have made it.
    ///
    /// Anybody may create a folder in `/tmp` or `/var/tmp` before we do, so what is found there must
    /// be a real folder of the right owner that nobody else can write to.
    func createBase() throws(PrivatePostgresFailure) {
        // Others may pass through root's folder on the way to the two inside, and not list it.
        try createFolder(base, mode: owner.isAnother ? 0o711 : 0o700, user: geteuid())
    }

    /// Makes the socket's folder, or finds it.
    func createSocketFolder() throws(PrivatePostgresFailure) { try createOwned(socket) }

    /// Makes a folder that only the server's user can enter.
    func createOwned(_ path: String) throws(PrivatePostgresFailure) {
        try createFolder(path, mode: 0o700, user: owner.user)
    }

    private func createFolder(
        _ path: String, mode: Int, user: UInt32
    ) throws(PrivatePostgresFailure) {
        if attributes(path) == nil {
            do {
                let parent = URL(filePath: path).deletingLastPathComponent()
                try FileManager.default.createDirectory(
                    at: parent, withIntermediateDirectories: true)
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false,
                    attributes: [.posixPermissions: mode])
                if user != geteuid() {
                    try FileManager.default.setAttributes(
                        [
                            .ownerAccountID: NSNumber(value: owner.user),
                            .groupOwnerAccountID: NSNumber(value: owner.group),
                        ], ofItemAtPath: path)
                }
            } catch {
                throw PrivatePostgresFailure("cannot create the folder \(path)")
            }
        }
        guard let found = attributes(path),
            found[.type] as? FileAttributeType == .typeDirectory,
            (found[.ownerAccountID] as? NSNumber)?.uint32Value == user,
            let permissions = (found[.posixPermissions] as? NSNumber)?.intValue,
            permissions & 0o777 & ~mode == 0
        else {
            throw PrivatePostgresFailure(
                "\(path) is not a folder of ours with mode \(String(mode, radix: 8))")
        }
    }

    /// The attributes of the thing itself, also when it is a symbolic link.
    private func attributes(_ path: String) -> [FileAttributeKey: Any]? {
        do { return try FileManager.default.attributesOfItem(atPath: path) } catch { return nil }
    }

    func exists(_ path: String) -> Bool { attributes(path) != nil }

    func discard(_ path: String) throws(PrivatePostgresFailure) {
        guard exists(path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw PrivatePostgresFailure("cannot delete \(path)")
        }
    }

    func rename(_ path: String, to target: String) throws(PrivatePostgresFailure) {
        do {
            try FileManager.default.moveItem(atPath: path, toPath: target)
        } catch {
            throw PrivatePostgresFailure("cannot rename \(path)")
        }
    }

    /// Deletes everything of this server.
    func delete() throws(PrivatePostgresFailure) {
        try discard(socket)
        try discard(base)
    }

    /// Whether a socket in that folder has a path short enough, without a character that means
    /// something to Postgres's configuration or in a URL.
    private static func isUsable(socketFolder: String) -> Bool {
        let name = "/.s.PGSQL.\(port).lock"
        return socketFolder.utf8.count + name.utf8.count <= socketPathBytesMax
            && socketFolder.utf8.allSatisfy { unit in
                switch unit {
                case 0x2D...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
                default: false
                }
            }
    }

    /// 16 hex digits that stand for a path. Source: FNV-1a, 64 bits. Not a protection against
    /// anybody: ownership is checked.
    private static func tag(of path: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for unit in path.utf8 { hash = (hash ^ UInt64(unit)) &* 0x0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Which processes belong to the folder. A postmaster and all its children work in the data folder.
extension PrivatePostgresPlaces {
    /// The process that the server's lock file names.
    func recordedServer() -> Int32? {
        guard let text = contents(of: serverLock) else { return nil }
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Whether that process is a Postgres of this folder.
    func isServer(_ process: Int32) -> Bool {
        guard process > 0 else { return false }
        return workingFolder(of: String(process)) == resolvedData && !isZombie(process)
    }

    /// All processes that work in the data folder.
    func processesInside() -> [Int32] {
        let numbers: [String]
        do {
            numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc")
        } catch {
            return []
        }
        return numbers.compactMap(Int32.init).filter(isServer)
    }

    /// The end of the server's log, in one line.
    func lastLogLines() -> String {
        let lines = (contents(of: log) ?? "").split(separator: "\n").suffix(5)
        return lines.isEmpty ? "its log is empty" : lines.joined(separator: " | ")
    }

    private var resolvedData: String {
        URL(filePath: data).resolvingSymlinksInPath().path
    }

    private func workingFolder(of process: String) -> String? {
        do {
            return try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(process)/cwd")
        } catch {
            return nil
        }
    }

    /// A process that has ended and whose parent has not looked; containers often lack one that does.
    private func isZombie(_ process: Int32) -> Bool {
        guard let status = contents(of: "/proc/\(process)/stat"),
            let end = status.lastIndex(of: ")")
        else { return true }
        return status[end...].dropFirst(2).hasPrefix("Z")
    }

    private func contents(of path: String) -> String? {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return nil }
    }
}
