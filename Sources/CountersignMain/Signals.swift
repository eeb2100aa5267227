import Dispatch
import Foundation

// Free functions, not members of `Main`: a closure written inside the main actor's `main()` is
// isolated to it, and the check kills the process when the signal arrives on another thread.

/// A peer that went away is reported by the failed write; it must not end the process.
func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
}

/// The signals `numbers` as they arrive, in place of their default action and for the rest of the
/// process's life.
func signalStream(_ numbers: [Int32]) -> AsyncStream<Int32> {
    AsyncStream { continuation in
        for number in numbers {
            // The dispatch source sees the signal also when its disposition is to be ignored; the
            // default action would end the process first.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The handler holds its own source, which nobody else keeps alive.
                withExtendedLifetime(source) { _ = continuation.yield(number) }
            }
            source.resume()
        }
    }
}

/// Waits for the first of SIGTERM and SIGINT and says which it was.
func terminationSignal() async -> Int32 {
    for await number in signalStream([SIGTERM, SIGINT]) { return number }
    return SIGTERM
}
