import Foundation

// Free functions, not members of `Main`: a closure written inside the main actor's `main()` is
// isolated to it, and the check kills the process when the signal arrives on another thread.
//
// Dispatch's signal sources are not used. They see a signal only if every thread of the process
// blocks it, which libraries' threads need not do, and only some time after they were resumed; a
// SIGTERM in between would be lost.

/// A peer that went away is reported by the failed write; it must not end the process.
func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
}

/// The signals `numbers` as they arrive, in place of their default action and for the rest of the
/// process's life. Every one that arrives after this has returned is in the stream.
///
/// A number belongs to the latest stream that asked for it.
func signalStream(_ numbers: [Int32]) async -> AsyncStream<Int32> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    for number in numbers {
        await readers.set(continuation, for: number)
    }
    // Made before a handler can need it.
    _ = doorbell
    for number in numbers {
        // Only what is allowed in a signal handler: one `write`, of the signal's number.
        _ = signal(number) { number in
            let before = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = unsafe write(doorbell, &byte, 1)
            errno = before
        }
    }
    return stream
}

/// The numbers of signals on their way from the handler to their streams.
private let arrivals: Pipe = {
    let pipe = Pipe()
    pipe.fileHandleForReading.readabilityHandler = { handle in
        let numbers = handle.availableData
        Task { for number in numbers { await readers.deliver(Int32(number)) } }
    }
    return pipe
}()

private let doorbell = arrivals.fileHandleForWriting.fileDescriptor

private let readers = SignalReaders()

/// Who reads which signal.
private actor SignalReaders {
    private var continuations: [Int32: AsyncStream<Int32>.Continuation] = [:]

    func set(_ continuation: AsyncStream<Int32>.Continuation, for number: Int32) {
        continuations[number] = continuation
    }

    func deliver(_ number: Int32) { continuations[number]?.yield(number) }
}
