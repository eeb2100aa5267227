import Countersign

/// Which transactions of Postgres were visible at one moment: `xmin:xmax:` and those in progress between.
///
/// Source: PostgreSQL 15 manual, §9.27.10, `pg_snapshot`.
package struct TransactionSnapshot: Hashable, Sendable {
    /// Below it all had ended.
    package let lowest: UInt64
    /// From it on none had begun to be visible.
    package let next: UInt64
    /// In progress, between the two.
    package let running: Set<UInt64>

    /// Reads Postgres's text; `nil` for anything else.
    package init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let lowest = UInt64(parts[0]), let next = UInt64(parts[1]),
            lowest <= next
        else { return nil }
        let running = parts[2].split(separator: ",")
        self.lowest = lowest
        self.next = next
        self.running = Set(running.compactMap { UInt64($0) })
        guard self.running.count == running.count else { return nil }
    }

    /// Whether what a committed transaction wrote was visible.
    package func sees(_ transaction: UInt64) -> Bool {
        transaction < next && !running.contains(transaction)
    }

    /// Whether everything that another one saw was visible in this one too.
    package func isAfter(_ other: TransactionSnapshot) -> Bool {
        other.next <= next && running.allSatisfy { !other.sees($0) }
    }
}
