import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Orders on their way` {
    private func orders(_ claims: [Claim]) -> [ID<Action>] {
        claims.compactMap { claim in
            if case .order(let order) = claim.item { order.actionID } else { nil }
        }
    }

    /// Approves some transfers and claims one of them.
    private func withClaim(
        _ body: (DecisionWorld, TestCustomer, Claim) async throws -> Void
    ) async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            #expect(try await world.approve(try Fixtures.transfer("10.00"), customer).isDecided)
            let claim = try await world.queue.claim(limit: 1, lease: Seconds(60)).first
            guard let claim else {
                Issue.record("there is nothing to claim")
                return
            }
            try await body(world, customer, claim)
        }
    }

    private func execution(_ world: DecisionWorld, _ claim: Claim) async throws -> Execution? {
        guard case .order(let order) = claim.item else { return nil }
        return try await world.bank.action(order.actionID)?.execution
    }

    @Test func `many workers claim each order once`() async throws {
        try await DecisionWorld.with { world in
            try await world.policy(["{open_challenges_max}": "100"])
            let customer = try await world.customer()
            _ = try await inParallel(50) { _ in
                try await world.approve(try Fixtures.transfer("1.00"), customer)
            }
            let claims = try await inParallel(16) { _ in
                try await world.queue.claim(limit: 10, lease: Seconds(60))
            }
            let claimed = claims.flatMap(orders)
            #expect(claimed.count == 50)
            #expect(Set(claimed).count == 50)
        }
    }

    /// What is leased and not told would wait until its lease runs out.
    @Test func `what is claimed while others are being approved is told to whoever claimed it`()
        async throws
    {
        try await DecisionWorld.with(connections: 8) { world in
            try await world.policy(["{open_challenges_max}": "100"])
            let customer = try await world.customer()
            async let early = inParallel(2) { _ in
                var told = 0
                for _ in 0..<40 {
                    told += orders(try await world.queue.claim(limit: 3, lease: Seconds(600))).count
                }
                return told
            }
            _ = try await inParallel(30) { _ in
                try await world.approve(try Fixtures.transfer("1.00"), customer)
            }
            let told = try await early.reduce(0, +)
            let rest = orders(try await world.queue.claim(limit: 30, lease: Seconds(600))).count
            #expect(told + rest == 30)
            #expect(
                try await world.count("SELECT sum(attempt) FROM countersign.execution_order") == 30)
        }
    }

    @Test func `the order holds the signed bytes and the proof`() async throws {
        try await withClaim { _, customer, claim in
            guard case .order(let order) = claim.item,
                case .customer(let assertion) = order.approval,
                case .deviceKey(let signature, .der) = assertion.proof,
                let message = SignedMessage(decoding: order.message)
            else {
                Issue.record("no order of a device key")
                return
            }
            let ordered = try Fixtures.transfer("10.00")
            #expect(message.content == ordered)
            let verifies = try Fixtures.deviceKeyVerifies(
                signature, over: order.message, pem: Base64.encode(customer.phone.publicKey))
            #expect(verifies)
        }
    }

    @Test func `a receipt settles once and is evidence`() async throws {
        try await withClaim { world, _, claim in
            #expect(try await execution(world, claim) == .inProgress)
            let outcome = DeliveryOutcome.executed(reference: "B-1", raw: Bytes("{}".utf8))
            let settled = try await inParallel(8) { _ in
                try await world.queue.settle(claim, outcome)
            }
            #expect(settled.count { $0 } == 1)
            #expect(try await execution(world, claim) == .executed)
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'order.executed'") == 1)
            let faults = try await world.evidenceFaults()
            #expect(faults == [])
        }
    }

    @Test func `a worker that was slower than its lease changes nothing`() async throws {
        try await withClaim { world, _, claim in
            try await world.test.sql(
                """
                UPDATE countersign.execution_order
                   SET lease_until = clock_timestamp() - interval '1 second'
                """)
            let second = try await world.queue.claim(limit: 1, lease: Seconds(60))
            #expect(second.count == 1)
            let late = try await world.queue.settle(
                claim, .refused(reason: "no", raw: Bytes("{}".utf8)))
            #expect(!late)
            #expect(try await execution(world, claim) == .inProgress)
            #expect(
                try await world.queue.settle(
                    second[0], .executed(reference: "B-1", raw: Bytes("{}".utf8))))
        }
    }

    @Test func `a refusal gives the limit back and is final`() async throws {
        try await withClaim { world, _, claim in
            let settled = try await world.queue.settle(
                claim, .refused(reason: "account closed", raw: Bytes("{}".utf8)))
            #expect(settled)
            #expect(try await execution(world, claim) == .refused)
            #expect(try await world.count("SELECT sum(used) FROM countersign.counter") == 0)
            #expect(try await world.queue.claim(limit: 9, lease: Seconds(60)).count == 0)
        }
    }

    @Test func `a refused payee is removed, and what it held stays held`() async throws {
        try await DecisionWorld.with(connections: 4) { world in
            let customer = try await world.customer()
            let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")
            try await world.approve(try Fixtures.newPayee(payee: friend), customer)
            let claim = try await world.queue.claim(limit: 1, lease: Seconds(60))[0]
            #expect(
                try await world.queue.settle(claim, .refused(reason: "no", raw: Bytes("{}".utf8))))
            let outcome = try await world.approve(
                try Fixtures.transfer("1.00", payee: friend), customer)
            #expect(outcome.refusal == .policy(.payeeUnknown))
        }
    }

    @Test func `an unknown order is only asked about, until it is known`() async throws {
        try await withClaim { world, _, claim in
            #expect(
                try await world.queue.settle(claim, .unknown(askAfter: Seconds(0), cause: .timeout))
            )
            #expect(try await execution(world, claim) == .unknown)
            let asking = try await world.queue.claim(limit: 1, lease: Seconds(60))[0]
            #expect(asking.phase == .reconcile)
            #expect(asking.attempt == 1)
            #expect(
                try await world.queue.settle(
                    asking, .unknown(askAfter: Seconds(0), cause: .notSeen)))
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'order.unknown'") == 1)
            let again = try await world.queue.claim(limit: 1, lease: Seconds(60))[0]
            #expect(again.attempt == 2)
            #expect(
                try await world.queue.settle(
                    again, .executed(reference: "B-1", raw: Bytes("{}".utf8))))
            #expect(try await execution(world, claim) == .executed)
            let faults = try await world.evidenceFaults()
            #expect(faults == [])
        }
    }

    @Test func `a retry keeps the order from being cancelled`() async throws {
        try await withClaim { world, _, claim in
            #expect(
                try await world.queue.settle(claim, .retry(after: Seconds(60), cause: .timeout)))
            guard case .order(let order) = claim.item,
                case .refused(let refusal) = try await world.bank.cancel(
                    order.actionID, reason: "too late")
            else {
                Issue.record("it was cancelled although core banking may have it")
                return
            }
            #expect(refusal == .alreadyDecided(.approved))
        }
    }
}
