/// The resident memory of the service after a number of flows.
struct MemorySample: Sendable, Equatable {
    let flows: Int
    let kib: Int

    var line: String { "after \(flows) flows: \(kib) KiB" }
}

/// Whether memory stayed the same over the last half of a run: then nothing that a flow makes is kept.
struct MemoryVerdict: Sendable, Equatable {
    /// From the sample in the middle to the last one; negative when it shrank.
    let growthKiB: Int
    /// How many flows lie between the two.
    let flows: Int
    let isFlat: Bool

    /// More than the allocator's own coming and going, and over 50,000 flows 84 bytes each: less than
    /// any request, message or answer that a flow could leave behind.
    static let growthKiBMax = 4096

    /// - Returns: `nil` for fewer than three samples, of which the first is that of a cold service.
    init?(_ samples: [MemorySample]) {
        guard samples.count >= 3, let last = samples.last else { return nil }
        let middle = samples[samples.count / 2]
        growthKiB = last.kib - middle.kib
        flows = last.flows - middle.flows
        isFlat = growthKiB <= Self.growthKiBMax
    }
}
