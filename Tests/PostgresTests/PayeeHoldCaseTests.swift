import Countersign
import Crypto
import Postgres
import TestSupport
import Testing

/// The published cases about holds of payees that take several requests; they print one line.
@Suite struct `Published cases of payee holds over time` {
    private static let friend = (name: "Ada Byron", iban: "NL91ABNA0417164300")

    @Test func `hold whatever is tried meanwhile`() async throws {
        guard let cases = try Cases.domain("payee_hold")?.filter(\.isOfPayeesOverTime)
        else { return }
        let deviating = await cases.run("domain.jsonl payee_hold, on the database") { one in
            try await DecisionWorld.with { world in
                let customer = try await world.customer()
                try await world.policy(["{payee,mode}": "\"refuse\""])
                #expect(
                    try await world.approve(Fixtures.newPayee(payee: Self.friend), customer)
                        .isDecided)
                switch one.input("scenario")?.text {
                case "batch": return try await judgeBatch(world, customer)
                case "rename-only": return try await judgeRename(one, world, customer)
                default: return try await judgeClock(world, customer)
                }
            }
        }
        #expect(deviating.isEmpty)
    }

    /// There is no batch: each transfer is an action of its own, and each is refused.
    private func judgeBatch(
        _ world: DecisionWorld, _ customer: TestCustomer
    ) async throws -> Judgement {
        let sum = try await world.storm(
            [Fixtures.transfer("1.00", payee: Self.friend), Fixtures.transfer("2.00")], customer)
        // Only the one to the customer's old payee.
        return sum == 200 ? .asExpected : .deviating("\(sum) were approved")
    }

    /// The same account under another name is the same payee, and has waited already.
    private func judgeRename(
        _ one: Case, _ world: DecisionWorld, _ customer: TestCustomer
    ) async throws -> Judgement {
        try await world.test.sql(
            "UPDATE countersign.payee SET usable_at = clock_timestamp(), new_until = clock_timestamp()"
        )
        let renamed = (name: "Augusta Ada King", iban: Self.friend.iban)
        _ = try await world.approve(Fixtures.newPayee(payee: renamed), customer)
        return try await world.judge(
            one, Fixtures.transfer("1.00", payee: renamed), customer)
    }

    /// The times are the database's, whatever a decision claims: one that is made a day ahead, or was made
    /// a day ago, is not taken.
    private func judgeClock(
        _ world: DecisionWorld, _ customer: TestCustomer
    ) async throws -> Judgement {
        let early = try await world.count(
            """
            SELECT count(*) FROM countersign.payee p JOIN countersign.evidence e ON e.kind = 'payee.added'
             WHERE p.account LIKE '%NL91ABNA0417164300%'
               AND p.usable_at < e.recorded_at - countersign.decision_age_max() + interval '86400 seconds'
            """)
        try await world.policy(["{payee,mode}": "\"hold\""])
        let asked = try await world.ask(
            Fixtures.transfer("1.00", payee: Self.friend), customer)
        let command = try world.command(.approve, asked, customer)
        guard case .signed(let challenge, let assertion) = command.proof,
            let context = try await world.store.load(
                action: asked.id, challenge: challenge, credential: assertion.reference)
        else { return .deviating("nothing is loaded") }
        let decide = DecideAction(
            store: world.store, verifier: try Fixtures.verifier(), sha256: .openSSL)
        let ruling = try decide.decide(command, context)
        guard case .approve = ruling else { return .deviating("not held") }
        for at in [context.at + Seconds(86_400), context.at - Seconds(86_400)] {
            guard case .lostRace = try await world.store.commit(ruling, on: context.moved(to: at))
            else { return .deviating("a decision of another day was taken") }
        }
        return early == 0 ? .asExpected : .deviating("usable too early")
    }
}

extension DecisionContext {
    /// The same, as if it had been read at another time.
    fileprivate func moved(to at: Instant) -> DecisionContext {
        DecisionContext(
            at: at, action: action, actionIsIntact: actionIsIntact,
            actionFailures: actionFailures, challenge: challenge, customer: customer,
            credential: credential, decision: decision, policy: policy, state: state,
            versions: versions)
    }
}
