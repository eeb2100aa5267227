import Countersign
import Postgres

/// Looks for how long records wait for their position, until its task is cancelled. Every instance does: the one that
/// leads may be the one that hangs.
struct LogWaiting: Sendable {
    let reader: PostgresLogReader
    let metrics: LogMetrics

    private static let interval = Duration.seconds(5)

    func run() async {
        while !Task.isCancelled {
            do throws(StoreFailure) {
                metrics.waiting(seconds: try await reader.waiting())
            } catch {
                metrics.waiting(seconds: nil)
            }
            await pause(Self.interval)
        }
    }
}
