import TestSupport

/// Runs blocking code on a thread of its own, as part of the same task.
///
/// A test that blocked one of the few threads of Swift's pool would keep the server's handlers from
/// running, and wait for itself.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
    -> Result
{
    try await withTaskExecutorPreference(ThreadPerJob()) { try await onPreferredExecutor(body) }
}

@concurrent private func onPreferredExecutor<Result: Sendable>(
    _ body: @Sendable () throws -> Result
) async throws -> Result { try body() }

/// Asks again and again until it is true; false after thirty seconds.
func eventually(_ condition: @Sendable () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return condition()
}
