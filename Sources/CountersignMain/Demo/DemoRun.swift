import Countersign
import Foundation

/// One run of the demo: sets a bank up, plays the story, stays up if asked to, and ends everything.
struct DemoRun: Sendable {
    let home: DemoHome
    /// Whether to stay up after the story.
    let stays: Bool
    private let processes: Processes
    private let database: DemoDatabase

    /// - Throws: ``CommandFailure`` or ``PrivatePostgresFailure`` when it cannot begin here.
    init(home: DemoHome, stays: Bool) throws {
        self.home = home
        self.stays = stays
        processes = Processes(
            executable: try Processes.ownExecutable(), folder: home.run,
            environment: ProcessInfo.processInfo.environment)
        database = try DemoDatabase(at: home.directory)
    }

    /// Plays it all; whatever happens, nothing keeps running.
    ///
    /// - Throws: ``CommandFailure`` when the story did not turn out as told.
    func run() async throws {
        // Before anything is started, so that no signal finds something to leave behind.
        let signals = await Self.endSignals()
        await Processes.endLeftovers(in: home.run)
        try home.clear()
        let result: Result<Void, any Error>
        do {
            result = .success(try await play(until: signals))
        } catch {
            result = .failure(error)
        }
        await processes.endAll()
        try await database.server.stop()
        Console.out(
            "\nStopped the service, core banking and Postgres. \(home.run) has their files.")
        try result.get()
    }

    private func play(until signals: AsyncStream<Int32>) async throws {
        guard let story = try await unless(signals, { try await tell() }) else {
            throw CommandFailure("interrupted before the end of the story")
        }
        if stays {
            // The end of the story ended its stream of signals.
            let later = await Self.endSignals()
            _ = try await unless(later) { try await stay(after: story) }
        }
        guard story.failures == 0 else {
            throw CommandFailure("\(story.failures) of \(story.checks) checks failed")
        }
    }

    private func tell() async throws -> Story {
        Console.out(" 0  A bank is set up in \(home.directory)")
        let bank = try await DemoBank.open(home: home, processes: processes, database: database) {
            Console.out("      \($0)")
        }
        var story = try Story(bank: bank)
        try await story.play()
        Console.out(
            story.failures == 0
                ? "\nAll \(story.checks) checks passed."
                : "\n\(story.failures) of \(story.checks) checks FAILED.")
        return story
    }

    /// Does `body` to its end, or until a signal comes; then it is `nil`.
    private func unless<Value: Sendable>(
        _ signals: AsyncStream<Int32>, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { break }
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            group.cancelAll()
            // What is under way fails at once without its servers, and need not be waited for.
            await processes.endAll()
            return nil
        }
    }

    private static func endSignals() async -> AsyncStream<Int32> {
        await signalStream([SIGINT, SIGTERM, SIGHUP])
    }
}

/// Staying up, for whoever wants to look around.
extension DemoRun {
    private func stay(after story: Story) async throws {
        let bank = story.bank
        let action = story.memory.executed
        func authorized(_ role: String) -> String {
            "curl -s -H 'Authorization: Bearer \(bank.keys[role] ?? "")'"
        }
        let transfer = Cast.transfer("75.00", to: Cast.known(), "Try it")
        Console.out(
            """

            The bank stays up until Ctrl-C; keys, configuration, logs and core banking's journal are in
            \(home.run)

            Try:

            \(authorized("backend")) \(bank.base)/v1/actions/\(action)

            \(authorized("backend")) -H 'Content-Type: application/json' -H 'Idempotency-Key: "try-1"' \
            \(bank.base)/v1/actions -d '\(String(decoding: transfer.encoded, as: UTF8.self))'

            \(authorized("auditor")) '\(bank.base)/v1/evidence?action_id=\(action)'
            """)
        while true {
            try await Task.sleep(for: .milliseconds(500))
            try await processes.requireServers()
        }
    }
}
