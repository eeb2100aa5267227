import Foundation

/// A program that this process has started, and whose end it collects.
///
/// Foundation's `Process` is not used: it hands its children what else is open in this process, and
/// learns of an end through a descriptor that a long-lived child of another thread may so have come
/// to hold; that end then goes unnoticed. Here a child gets three descriptors, and no more.
struct ChildProcess: Sendable {
    let id: Int32

    /// Starts a program in the folder `/`.
    ///
    /// - Parameters:
    ///   - words: The path of the program and its arguments.
    ///   - environment: All of the child's environment, as `NAME=value`.
    ///   - input: The descriptor that becomes standard input; `nil` for none to read.
    ///   - output: The descriptor that becomes standard output.
    ///   - errors: The descriptor that becomes standard error; `nil` for nowhere.
    ///   - ownSession: Whether the child leaves this terminal, so that a Ctrl-C is not for it.
    /// - Returns: `nil` when the program cannot be started.
    static func start(
        _ words: [String], environment: [String], input: Int32? = nil, output: Int32,
        errors: Int32?, ownSession: Bool
    ) -> ChildProcess? {
        // Debian's C library does all this in `posix_spawn` too, by names that Swift cannot see. These
        // programs replace themselves by the next, so the number stays the child's.
        let words =
            (ownSession ? ["/usr/bin/setsid"] : []) + ["/usr/bin/env", "--chdir=/", "--"] + words
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        guard unsafe setDescriptors(&actions, input: input, output: output, errors: errors),
            setSignals(&attributes)
        else { return nil }
        var id: Int32 = 0
        let program = words[0]
        let status = unsafe withCStrings(words) { words in
            unsafe withCStrings(environment) { environment in
                unsafe posix_spawn(&id, program, &actions, &attributes, words, environment)
            }
        }
        return status == 0 ? ChildProcess(id: id) : nil
    }

    /// The exit status in what `waitpid` tells; 128 and the signal's number when a signal ended it.
    static func exitStatus(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }

    /// Waits for the end of the program, to be called once.
    ///
    /// - Returns: Its exit status; 128 and the signal's number when a signal ended it.
    func end() async -> Int32 {
        while true {
            var status: Int32 = 0
            let collected = unsafe waitpid(id, &status, WNOHANG)
            if collected == id { return Self.exitStatus(status) }
            if collected == -1, errno != EINTR { return 127 }
            // Asked for now and then, since waiting in the kernel would hold a thread.
            await pauseRegardless(milliseconds: 10)
        }
    }
}

/// The child's three descriptors; whatever else is open here, or is just being opened by another
/// thread, is closed in the child.
private func setDescriptors(
    _ actions: inout posix_spawn_file_actions_t, input: Int32?, output: Int32, errors: Int32?
) -> Bool {
    func take(_ descriptor: Int32?, as number: Int32, _ mode: Int32) -> Bool {
        guard let descriptor else {
            return unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", mode, 0)
                == 0
        }
        return unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number) == 0
    }
    // They may be any numbers above 2, and are closed only after they were copied.
    guard take(input, as: 0, O_RDONLY), take(output, as: 1, O_WRONLY),
        take(errors, as: 2, O_WRONLY)
    else { return false }
    // New descriptors take the lowest free numbers, so a little above the highest is enough. Closing
    // one that is not open is no error as long as the number is possible.
    let end = min(highestDescriptor() + 64, getdtablesize())
    for descriptor in 3..<max(end, 3) {
        guard unsafe posix_spawn_file_actions_addclose(&actions, descriptor) == 0 else {
            return false
        }
    }
    return true
}

private func highestDescriptor() -> Int32 {
    do {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return names.compactMap(Int32.init).max() ?? 1024
    } catch {
        return 1024
    }
}

/// A child starts with the default action of every signal and with none blocked: this process ignores
/// some, and a child would inherit that.
private func setSignals(_ attributes: inout posix_spawnattr_t) -> Bool {
    var all = sigset_t()
    var none = sigset_t()
    let flags = Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
    guard unsafe sigfillset(&all) == 0, unsafe sigemptyset(&none) == 0,
        unsafe posix_spawnattr_setsigdefault(&attributes, &all) == 0,
        unsafe posix_spawnattr_setsigmask(&attributes, &none) == 0
    else { return false }
    return unsafe posix_spawnattr_setflags(&attributes, flags) == 0
}

/// Lends C an array of strings that ends with a null pointer.
private func withCStrings<Result>(
    _ strings: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
        // Never empty: the null pointer at the end is there.
        guard let base = buffer.baseAddress else { preconditionFailure("an array has no memory") }
        return unsafe body(base)
    }
}

/// Waits without holding a thread, and to the end even when the task is cancelled: a server that is
/// half started or half stopped is nobody's wish.
func pauseRegardless(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            continuation.resume()
        }
    }
}
