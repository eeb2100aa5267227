package import Countersign

/// Takes work from the queue and delivers it, until its task is cancelled.
///
/// Any number of instances may run: the queue leases each item to one of them at a time. What crashes
/// or loses its lease in the middle is delivered again, and core banking does an action ID once.
package struct DeliveryWorker: Sendable {
    /// How much and how often.
    package struct Options: Sendable {
        /// The most items under way at one time; no more than the client has threads, since a lease
        /// already runs while an item waits for one.
        package let slots: Int
        /// How long a claim holds. At least twice the total timeout of an exchange.
        package let lease: Seconds
        /// The pause after a claim that found less than it asked for, and after a failure.
        package let pollInterval: Duration

        package init(slots: Int, lease: Seconds, pollInterval: Duration) {
            precondition(slots > 0, "a worker needs at least one slot")
            self.slots = slots
            self.lease = lease
            self.pollInterval = pollInterval
        }
    }

    /// What a worker has to tell; counted as metrics.
    package enum Event: Sendable {
        /// An outcome was recorded.
        case settled(DeliveryOutcome)
        /// The lease had run out: another worker has the item. Normal, but often means too short a lease.
        case leaseLost
        /// The queue failed; the worker goes on.
        case queueFailed(StoreFailure)

        /// What happened, as the label of a metric; one of ``outcomes``.
        package var outcome: String {
            switch self {
            case .settled(.executed): "executed"
            case .settled(.refused): "refused"
            case .settled(.delivered): "delivered"
            case .settled(.retry): "retry"
            case .settled(.unknown): "unknown"
            case .leaseLost: "lease_lost"
            case .queueFailed: "queue_failed"
            }
        }

        /// Every ``outcome`` that there is.
        package static let outcomes = [
            "executed", "refused", "delivered", "retry", "unknown", "lease_lost", "queue_failed",
        ]
    }

    private let queue: any DeliveryQueue
    private let options: Options
    private let deliver: @Sendable (Claim) async -> DeliveryOutcome
    private let sleep: @Sendable (Duration) async -> Void
    private let report: @Sendable (Event) -> Void

    /// Takes everything that the worker touches.
    ///
    /// - Parameters:
    ///   - queue: Where work comes from.
    ///   - options: How much and how often.
    ///   - deliver: Makes one delivery: `CoreBankingLink.deliver`.
    ///   - sleep: Waits, and returns early when the task is cancelled.
    ///   - report: Counts; must return at once.
    package init(
        queue: any DeliveryQueue, options: Options,
        deliver: @escaping @Sendable (Claim) async -> DeliveryOutcome,
        sleep: @escaping @Sendable (Duration) async -> Void,
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.queue = queue
        self.options = options
        self.deliver = deliver
        self.sleep = sleep
        self.report = report
    }

    private enum Wake {
        case slotFree
        case pauseOver
    }

    /// Works until the task is cancelled, then returns once what is under way has been settled.
    package func run() async {
        await withTaskGroup(of: Wake.self) { group in
            var free = options.slots
            var isPausing = false
            while true {
                if free > 0, !isPausing, !Task.isCancelled {
                    let claims = await claim(free)
                    for claim in claims {
                        group.addTask { await settle(claim) }
                    }
                    isPausing = claims.count < free
                    free -= claims.count
                    if isPausing { group.addTask { await pause() } }
                }
                // Nothing under way and no pause: only a cancelled worker gets here.
                guard let wake = await group.next() else { return }
                switch wake {
                case .slotFree: free += 1
                case .pauseOver: isPausing = false
                }
            }
        }
    }

    private func pause() async -> Wake {
        await sleep(options.pollInterval)
        return .pauseOver
    }

    private func claim(_ limit: Int) async -> [Claim] {
        do throws(StoreFailure) {
            return try await queue.claim(limit: limit, lease: options.lease)
        } catch {
            report(.queueFailed(error))
            return []
        }
    }

    private func settle(_ claim: Claim) async -> Wake {
        let outcome = await deliver(claim)
        do throws(StoreFailure) {
            let isSettled = try await queue.settle(claim, outcome)
            report(isSettled ? .settled(outcome) : .leaseLost)
        } catch {
            // The lease runs out and the item is delivered again; core banking answers the same.
            report(.queueFailed(error))
        }
        return .slotFree
    }
}
