import Countersign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of the outbox, on the running service; the area prints one line. What they call
/// an event is an order here, the relay is the delivery worker, and the receiver is core banking.
@Suite struct `Published cases of the outbox` {
    @Test func `are told and turn out as they should`() async throws {
        guard let cases = try Cases.domain("outbox") else { return }
        try await Stage.open { stage in
            let deviating = await cases.play("domain.jsonl outbox") { one in
                try await OutboxStory(stage, try await stage.customer()).judgement(of: one)
            }
            #expect(deviating.isEmpty)
        }
    }
}

private struct OutboxStory {
    private let stage: Stage
    private let customer: BankCustomer

    init(_ stage: Stage, _ customer: BankCustomer) {
        self.stage = stage
        self.customer = customer
    }

    func judgement(of one: Case) async throws -> Judgement {
        let story = one.steps.joined(separator: "; ")
        if let relays = story.firstMatch(of: /([0-9]+) relays/).flatMap({ Int($0.1) }) {
            let events = story.firstMatch(of: /([0-9,]+) events/)
                .flatMap { Int($0.1.replacing(",", with: "")) }
            return try await relaysAtOnce(relays, events: events ?? 10)
        }
        if story.contains("rollback") { return try await rolledBack() }
        if story.contains("always") { return try await poison() }
        if story.contains(/crash|kill|restart/) { return try await crash(story) }
        if story.contains("approved, executed") { return try await approvedBeforeExecuted() }
        throw UnknownStep(step: one.steps.first ?? "")
    }

    /// The most orders of one story: a test has little time, and they are made over HTTP.
    private static let ordersMax = 80

    private func relaysAtOnce(_ relays: Int, events: Int) async throws -> Judgement {
        let count = min(events, Self.ordersMax)
        var others: [ServiceInstance] = []
        for _ in 1..<min(relays, 4) { others.append(try await stage.bank.serve()) }
        var customers = [customer]
        while customers.count < 8 { customers.append(try await stage.customer()) }
        let progress = Progress()
        try await progress.rush(
            customers, payments: count / customers.count, through: [Shift(stage.instance)])
        let payments = await progress.acknowledged
        for customer in customers { try await stage.settle(customer) }
        for other in others {
            other.process.signal(SIGTERM)
            guard try await other.process.ending() == .exited(0) else {
                return .deviating("a relay did not stop in good order")
            }
        }
        let booked = try stage.bank.bookings().map(\.actionID.text)
        let once = payments.allSatisfy { payment in
            booked.count { $0 == payment.action } == 1
        }
        return once ? .asExpected : .deviating("not each order was booked once")
    }

    private func pay() async throws -> Acknowledged {
        try await InsistentClient(Shift(stage.instance)).pay(
            from: customer, key: "\(customer.id)-\(Hex.encode(EntropySource.openSSL(4)))")
    }

    private func execution(_ action: String) async throws -> String? {
        try await stage.instance.backend().action(action).text("action", "execution")
    }

    /// Dies with the order in hand; what core banking answers besides is an error.
    private func crash(_ story: String) async throws -> Judgement {
        let hasSent = story.contains(/ack|200|accept|sends|sent/) && !story.contains("500")
        try await stage.restart(failpoint: hasSent ? "delivery.after-push" : "delivery.after-claim")
        if story.contains("500") { try await stage.coreBanking(faults: "fail-before") }
        let shift = Shift(stage.instance)
        let payment = try await InsistentClient(shift).pay(from: customer, key: customer.id)
        if await shift.restarts == 0 {
            try await stage.comeBack()
        } else {
            try await stage.take(shift)
        }
        try await stage.settle(customer)
        let count = try stage.bank.bookings().count { $0.actionID.text == payment.action }
        let state = try await execution(payment.action)
        return count == 1 && state == "executed"
            ? .asExpected : .deviating("booked \(count) times, \(state ?? "gone")")
    }

    private func approvedBeforeExecuted() async throws -> Judgement {
        let payment = try await pay()
        try await stage.settle(customer)
        let evidence = try await stage.instance.auditor().get(
            "/v1/evidence?action_id=\(payment.action)")
        guard case .array(let entries)? = evidence.value(["evidence"]) else {
            return .deviating("no evidence")
        }
        let kinds = entries.compactMap { $0["kind"]?.text }
        guard let approved = kinds.firstIndex(of: "action.approved"),
            let executed = kinds.firstIndex(of: "order.executed")
        else { return .deviating("evidence is missing: \(kinds)") }
        return approved < executed ? .asExpected : .deviating("executed before it was approved")
    }

    private func rolledBack() async throws -> Judgement {
        let created = try await stage.instance.backend().create(customer.transfer())
        guard let question = created.question else { return .deviating("not created") }
        let body = try customer.approval(question)
        try await stage.bank.script(
            """
            CREATE FUNCTION countersign.fail() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'XX000'; END $$;
            CREATE TRIGGER fail AFTER INSERT ON countersign.execution_order
                FOR EACH ROW EXECUTE FUNCTION countersign.fail()
            """)
        let failed = try await stage.instance.backend().approve(question.action, body)
        try await stage.bank.script("DROP FUNCTION countersign.fail() CASCADE")
        let left = try await stage.bank.count(
            """
            SELECT (SELECT count(*) FROM countersign.execution_order
                     WHERE action_id = '\(question.action)')
                 + (SELECT count(*) FROM countersign.decision
                     WHERE action_id = '\(question.action)')
                 + (SELECT count(*) FROM countersign.evidence
                     WHERE action_id = '\(question.action)' AND kind = 'action.approved')
            """)
        guard failed.status >= 500, left == 0 else {
            return .deviating("answered \(failed.status), \(left) rows")
        }
        // The same approval is good once the database is.
        let again = try await stage.instance.backend().approve(question.action, body)
        try await stage.settle(customer)
        let state = try await execution(question.action)
        return again.status == 200 && state == "executed"
            ? .asExpected : .deviating("then answered \(again.status)")
    }

    /// An order that core banking never takes: it has lost the key that signed it.
    private func poison() async throws -> Judgement {
        let other = try await stage.customer()
        try await until("core banking knows both keys") {
            try await stage.bank.count(
                """
                SELECT count(*) FROM countersign.credential_announcement WHERE settled_at IS NULL
                """) == 0
        }
        try await stage.loseKey(of: customer)
        let poison = try await pay()
        let client = InsistentClient(Shift(stage.instance))
        for number in 2...10 {
            _ = try await client.pay(from: other, key: "\(other.id)-\(number)")
        }
        try await stage.settle(other)
        let waiting = try await execution(poison.action)
        guard waiting == "in_progress" || waiting == "ready" else {
            return .deviating("it is \(waiting ?? "gone")")
        }
        // After a day of attempts it is only asked about, and people are told.
        try await stage.bank.sql(
            """
            UPDATE countersign.execution_order
               SET first_attempt_at = clock_timestamp() - interval '25 hours'
             WHERE action_id = '\(poison.action)'
            """)
        try await until("the order is parked") {
            try await stage.bank.endLeases()
            return try await execution(poison.action) == "unknown"
        }
        let evidence = try await stage.bank.count(
            """
            SELECT count(*) FROM countersign.evidence
             WHERE action_id = '\(poison.action)' AND kind = 'order.unknown'
            """)
        return evidence == 1 ? .asExpected : .deviating("\(evidence) records of the parking")
    }
}

extension Stage {
    /// Starts core banking again without a key in its register.
    fileprivate func loseKey(of customer: BankCustomer) async throws {
        _ = try await bank.core.ending(after: SIGKILL)
        let journal = bank.folder + "/journal"
        let lines = try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n")
        let left = lines.filter { !($0.contains(customer.credential) && $0.contains("\"key\"")) }
        guard left.count == lines.count - 1 else { throw Unexpected("no key to lose") }
        try TestBank.write(left.map { $0 + "\n" }.joined(), to: journal)
        try await bank.core.start()
    }
}
