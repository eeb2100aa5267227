import Foundation

extension ChildProcess {
    /// The most that a program may say here.
    private static let outputBytesMax = 4096

    /// Why a program gave nothing.
    enum FilterFailure: Error, Hashable {
        case notStarted
        /// It ended with that status; 128 and the signal's number when a signal ended it.
        case status(Int32)
        case tooLong
        case tooLate
    }

    /// Runs a program that reads its standard input and writes what it makes of it to its standard output.
    ///
    /// It blocks the thread, so it is for threads that nobody else waits for.
    ///
    /// - Parameters:
    ///   - words: The path of the program and its arguments.
    ///   - input: At most as much as a pipe holds, 64 KiB.
    ///   - deadline: How long it may take; then it is killed, with what it has started.
    /// - Returns: What it had written at its end, at most 4 KiB.
    /// - Throws: ``FilterFailure``.
    static func filter(
        _ words: [String], input: [UInt8], deadline: Duration
    ) throws(FilterFailure) -> [UInt8] {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard unsafe pipe(&toChild) == 0 else { throw .notStarted }
        guard unsafe pipe(&fromChild) == 0 else {
            toChild.forEach { _ = close($0) }
            throw .notStarted
        }
        // In a session of its own, so that all of it can be killed.
        let child = start(
            words, environment: ["PATH=/usr/bin:/bin"], input: toChild[0], output: fromChild[1],
            errors: nil, ownSession: true)
        _ = close(toChild[0])
        _ = close(fromChild[1])
        defer { _ = close(fromChild[0]) }
        guard let child else {
            _ = close(toChild[1])
            throw .notStarted
        }
        // A pipe takes it all at once; a child that does not read it is found out by what it says.
        _ = unsafe write(toChild[1], input, input.count)
        _ = close(toChild[1])
        let (status, output) = try child.result(
            from: fromChild[0], until: ContinuousClock.now + deadline)
        // As `env` says it when there is no such program, or it may not be run.
        if status == 126 || status == 127 { throw .notStarted }
        guard status == 0 else { throw .status(status) }
        return output
    }

    /// Waits for the end, and gives what was written until then: a program may leave something running that holds
    /// the other end of the pipe for ever.
    private func result(
        from descriptor: Int32, until end: ContinuousClock.Instant
    ) throws(FilterFailure) -> (status: Int32, output: [UInt8]) {
        var output: [UInt8] = []
        var isOpen = true
        while true {
            // Asked before reading, so that all that it has written is read.
            let status = exitStatus(waiting: false)
            while isOpen, Self.isReadable(descriptor, milliseconds: status == nil ? 10 : 0) {
                guard let piece = Self.read(from: descriptor) else { continue }
                isOpen = !piece.isEmpty
                output += piece
                guard output.count <= Self.outputBytesMax else { break }
            }
            if let status, output.count <= Self.outputBytesMax { return (status, output) }
            guard output.count <= Self.outputBytesMax, ContinuousClock.now < end else {
                if status == nil { killAll() }
                throw output.count > Self.outputBytesMax ? .tooLong : .tooLate
            }
            if !isOpen { _ = usleep(1000) }
        }
    }

    private static func isReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, milliseconds) > 0
    }

    /// The next piece; empty when the other end is closed, `nil` when a signal came between.
    private static func read(from descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: outputBytesMax)
        let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0 { return errno == EINTR ? nil : [] }
        return Array(buffer[..<count])
    }

    /// Kills it and what it has started, and collects its end.
    private func killAll() {
        // The second is for a child that has not come to its own session yet.
        _ = kill(-id, SIGKILL)
        _ = kill(id, SIGKILL)
        _ = exitStatus(waiting: true)
    }

    /// The exit status; `nil` when it runs still and this does not wait.
    private func exitStatus(waiting: Bool) -> Int32? {
        while true {
            var status: Int32 = 0
            let collected = unsafe waitpid(id, &status, waiting ? 0 : WNOHANG)
            if collected == id { return Self.exitStatus(status) }
            if collected == 0 { return nil }
            if errno != EINTR { return 127 }
        }
    }
}
