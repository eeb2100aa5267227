package import Countersign

/// Sends the feed of events, one batch after another, until its task is cancelled.
///
/// Any number of instances may run: the queue gives each batch to one of them at a time, and the
/// next batch to nobody before this one has arrived. What crashes or loses its lease in the middle
/// is sent again.
package struct EventPushWorker: Sendable {
    /// How much and how often.
    package struct Options: Sendable {
        /// How long a claim holds. At least twice the total timeout of an exchange, so that a late
        /// copy of a batch does not come after the next one.
        package let lease: Seconds
        /// The pause when nothing was due, and after a failure.
        package let pollInterval: Duration

        package init(lease: Seconds, pollInterval: Duration) {
            self.lease = lease
            self.pollInterval = pollInterval
        }
    }

    /// What a worker has to tell; counted as metrics.
    package enum Event: Sendable {
        /// How far the feed was sent, at each look.
        case standing(waiting: Int, lag: Seconds)
        /// An outcome was recorded.
        case settled(EventPushOutcome)
        /// The lease had run out: another worker has the batch.
        case leaseLost
        /// The queue failed; the worker goes on.
        case queueFailed(StoreFailure)

        /// What happened, as the label of a metric, one of ``outcomes``; `nil` for a mere look.
        package var outcome: String? {
            switch self {
            case .standing: nil
            case .settled(.arrived): "arrived"
            case .settled(.retry): "retry"
            case .leaseLost: "lease_lost"
            case .queueFailed: "queue_failed"
            }
        }

        /// Every ``outcome`` that there is.
        package static let outcomes = ["arrived", "retry", "lease_lost", "queue_failed"]
    }

    private let queue: any EventPushQueue
    private let options: Options
    private let deliver: @Sendable (EventBatch) async -> EventPushOutcome
    private let sleep: @Sendable (Duration) async -> Void
    private let report: @Sendable (Event) -> Void

    /// Takes everything that the worker touches.
    ///
    /// - Parameters:
    ///   - queue: Where batches come from.
    ///   - options: How much and how often.
    ///   - deliver: Sends one batch: `EventPushLink.deliver`.
    ///   - sleep: Waits, and returns early when the task is cancelled.
    ///   - report: Counts; must return at once.
    package init(
        queue: any EventPushQueue, options: Options,
        deliver: @escaping @Sendable (EventBatch) async -> EventPushOutcome,
        sleep: @escaping @Sendable (Duration) async -> Void,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.queue = queue
        self.options = options
        self.deliver = deliver
        self.sleep = sleep
        self.report = report
    }

    /// Works until the task is cancelled, then returns once the batch under way has been settled.
    package func run() async {
        while !Task.isCancelled {
            do throws(StoreFailure) {
                if try await sendBatch() { continue }
            } catch {
                // The lease runs out and the batch is sent again; the receiver knows its events by
                // their IDs.
                report(.queueFailed(error))
            }
            await sleep(options.pollInterval)
        }
    }

    /// Sends the batch that is due.
    ///
    /// - Returns: Whether it arrived, so that another one may be due at once.
    /// - Throws: ``StoreFailure``.
    private func sendBatch() async throws(StoreFailure) -> Bool {
        let standing = try await queue.claim(
            limit: EventPushLink.batchMax, lease: options.lease)
        report(.standing(waiting: standing.waiting, lag: standing.lag))
        guard let claim = standing.claim else { return false }
        let batch = try await queue.batch(claim)
        let outcome = await deliver(batch)
        guard try await queue.settle(batch, outcome) else {
            report(.leaseLost)
            return false
        }
        report(.settled(outcome))
        return outcome == .arrived
    }
}
