import Foundation

/// What the kernel says about one process. Source: proc(5), `/proc/PID/stat`.
struct ProcessTimes: Sendable, Equatable {
    let parent: Int32
    /// User and system time, in clock ticks.
    let own: Int
    /// The same of children that have ended and were waited for, and of theirs.
    let ofEndedChildren: Int

    /// Reads the content of `stat`; `nil` when it is none.
    init?(stat: String) {
        // The name stands in parentheses and may hold any character, also a parenthesis.
        guard let name = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: name)...].split(separator: " ").map { Int($0) }
        guard fields.count > 14, let parent = fields[1].flatMap({ Int32(exactly: $0) }),
            let user = fields[11], let system = fields[12], let childrenUser = fields[13],
            let childrenSystem = fields[14]
        else { return nil }
        self.parent = parent
        own = user + system
        ofEndedChildren = childrenUser + childrenSystem
    }

    /// `nil` when there is no such process any more.
    static func of(_ process: Int32) -> ProcessTimes? {
        ProcessTimes(stat: contents(of: "/proc/\(process)/stat"))
    }

    /// Clock ticks of a process and its children, dead or alive.
    static func ticks(ofFamily process: Int32) -> Int {
        let head = of(process)
        var ticks = (head?.own ?? 0) + (head?.ofEndedChildren ?? 0)
        for name in names(in: "/proc") {
            guard let id = Int32(name), let times = of(id), times.parent == process else {
                continue
            }
            ticks += times.own
        }
        return ticks
    }

    /// Resident memory of a process in KiB; `nil` when it has ended.
    static func residentKiB(of process: Int32) -> Int? {
        for line in contents(of: "/proc/\(process)/status").split(separator: "\n") {
            guard line.hasPrefix("VmRSS:") else { continue }
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
                .flatMap { Int($0) }
        }
        return nil
    }

    /// Clock ticks in which the whole machine was busy. Source: proc(5), `/proc/stat`.
    static func busyTicks() -> Int { busyTicks(stat: contents(of: "/proc/stat")) }

    /// Adds up the first line: user, nice, system, not idle and I/O wait, then interrupts and steal.
    static func busyTicks(stat: String) -> Int {
        let line = stat.prefix { $0 != "\n" }
        let fields = line.split(separator: " ").dropFirst().prefix(8).map { Int($0) ?? 0 }
        guard fields.count == 8 else { return 0 }
        return fields.reduce(0, +) - fields[3] - fields[4]
    }

    /// The machine's load of the last minute, as `/proc/loadavg` has it.
    static var load: String { contents(of: "/proc/loadavg").prefix { $0 != " " }.description }

    private static func contents(of path: String) -> String {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return "" }
    }

    private static func names(in folder: String) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            return []
        }
    }
}
