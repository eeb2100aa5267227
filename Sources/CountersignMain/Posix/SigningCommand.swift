import Foundation

extension ChildProcess {
    /// The most that a program may say here.
    private static let outputBytesMax = 4096

    /// Runs a program that reads its standard input and writes what it makes of it to its standard output.
    ///
    /// It blocks the thread, so it is for threads that nobody else waits for.
    ///
    /// - Parameters:
    ///   - words: The path of the program and its arguments.
    ///   - input: At most as much as a pipe holds, 64 KiB.
    ///   - deadline: How long it may take; it is killed after that.
    /// - Returns: Its output, at most 4 KiB; `nil` when it cannot be started, takes too long, says more, or
    ///   ends with another status than 0.
    static func filter(
        _ words: [String], input: [UInt8], deadline: Duration
    ) -> [UInt8]? {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard unsafe pipe(&toChild) == 0 else { return nil }
        guard unsafe pipe(&fromChild) == 0 else {
            toChild.forEach { _ = close($0) }
            return nil
        }
        let child = start(
            words, environment: ["PATH=/usr/bin:/bin"], input: toChild[0], output: fromChild[1],
            errors: nil, ownSession: false)
        _ = close(toChild[0])
        _ = close(fromChild[1])
        defer { _ = close(fromChild[0]) }
        guard let child else {
            _ = close(toChild[1])
            return nil
        }
        // A pipe takes it all at once; a child that does not read it is found out by what it says.
        let written = unsafe write(toChild[1], input, input.count)
        _ = close(toChild[1])
        let end = ContinuousClock.now + deadline
        let output = written == input.count ? read(from: fromChild[0], until: end) : nil
        guard let status = child.status(until: output == nil ? .now : end) else {
            _ = kill(child.id, SIGKILL)
            _ = child.status(until: nil)
            return nil
        }
        return status == 0 ? output : nil
    }

    /// Everything that comes until the other end is closed.
    private static func read(
        from descriptor: Int32, until end: ContinuousClock.Instant
    ) -> [UInt8]? {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: outputBytesMax)
        while true {
            let left = (end - .now).inSeconds
            guard left > 0 else { return nil }
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, Int32(min(left * 1000 + 1, 60_000))) > 0 else {
                return nil
            }
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { return output }
            output += buffer[..<count]
            guard output.count <= outputBytesMax else { return nil }
        }
    }

    /// The exit status, waiting on this thread; `nil` when it has not ended by then.
    private func status(until end: ContinuousClock.Instant?) -> Int32? {
        while true {
            var status: Int32 = 0
            let collected = unsafe waitpid(id, &status, end == nil ? 0 : WNOHANG)
            if collected == id { return Self.exitStatus(status) }
            if collected == -1, errno != EINTR { return 127 }
            if let end, ContinuousClock.now >= end { return nil }
            _ = usleep(1000)
        }
    }
}
