import Foundation
package import Testing

/// Runs each job of a task on a thread of its own.
package final class ThreadPerJob: TaskExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { [self] in
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// For tests that wait for programs: one that blocked one of the few threads of Swift's pool would keep servers under
/// test, of which others wait for an answer, from running.
package struct ThreadOfItsOwn: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadPerJob()) { try await function() }
    }
}

extension Trait where Self == ThreadOfItsOwn {
    /// The test waits for programs, on a thread that nobody else needs.
    package static var onAThreadOfItsOwn: ThreadOfItsOwn { ThreadOfItsOwn() }
}
