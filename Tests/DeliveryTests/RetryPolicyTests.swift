import Countersign
import Crypto
import Delivery
import Testing

@Suite struct `The delay before another attempt` {
    private let policy = RetryPolicy.standard

    @Test func `has a ceiling that doubles up to five minutes`() {
        let ceilings = (1...12).map { policy.ceiling(after: $0).count }
        #expect(ceilings == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
        #expect(policy.ceiling(after: 0) == Seconds(1))
        #expect(policy.ceiling(after: .max) == Seconds(300))
    }

    @Test func `is drawn from one second to the ceiling, both included`() {
        let least = EntropySource { Bytes(repeating: 0, count: $0) }
        let most = EntropySource { Bytes(repeating: 0xFF, count: $0) }
        for attempt in 1...12 {
            #expect(policy.delay(after: attempt, entropy: least) == Seconds(1))
            #expect(
                policy.delay(after: attempt, entropy: most) == policy.ceiling(after: attempt))
        }
        let drawn = Set(
            (0..<500).map { _ in policy.delay(after: 3, entropy: .openSSL).count })
        #expect(drawn == [1, 2, 3, 4])
    }

    @Test func `sending ends after a day`() {
        #expect(policy.maySendAgain(Fixture.claim(age: Seconds(86_399))))
        #expect(!policy.maySendAgain(Fixture.claim(age: Seconds(86_400))))
    }
}
