import Countersign
import Crypto
import Foundation
import TestSupport

@testable import CountersignMain

/// Where the stories of one area of cases are played, one after another: a bank and its service.
final class Stage {
    let bank: TestBank
    /// The instance that serves.
    private(set) var instance: ServiceInstance
    private var customers = 0

    private init(bank: TestBank) async throws {
        self.bank = bank
        instance = try await bank.serve()
    }

    /// Sets the stage, and clears it whatever happens.
    static func open<Result>(_ body: (Stage) async throws -> Result) async throws -> Result {
        try await withBank { bank in try await body(Stage(bank: bank)) }
    }

    /// A customer that no other story knows.
    func customer() async throws -> BankCustomer {
        customers += 1
        return try await bank.customer("c-\(customers)", at: instance)
    }

    /// Stops the service in good order and starts it again.
    func restart(failpoint: String? = nil) async throws {
        instance.process.signal(SIGTERM)
        guard try await instance.process.ending() == .exited(0) else {
            throw Unexpected("the service did not stop in good order")
        }
        if let failpoint {
            instance = try await bank.serve("--failpoint", failpoint)
        } else {
            instance = try await bank.serve()
        }
    }

    /// Waits for the death that a failpoint brings, and starts the service again.
    func comeBack() async throws {
        guard try await instance.process.ending() == .killed(signal: SIGKILL) else {
            throw Unexpected("the service was not killed")
        }
        instance = try await bank.serve()
        try await bank.endLeases()
    }

    /// Goes on with the instance that a caller has found in the place of a dead one.
    func take(_ shift: Shift) async throws {
        instance = await shift.instance
        try await bank.endLeases()
    }

    /// Lets core banking go wrong for its next orders.
    func coreBanking(faults: String) async throws {
        _ = try await bank.core.ending(after: SIGKILL)
        try await bank.core.start(faults: faults)
    }

    /// Keeps the service away from its database while `body` is done.
    func withoutDatabase<Result>(_ body: () async throws -> Result) async throws -> Result {
        let name = try await bank.text("SELECT quote_ident(current_database())") ?? ""
        try await bank.script("REVOKE CONNECT ON DATABASE \(name) FROM PUBLIC")
        try await bank.sql(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND usename = 'countersign_service'
            """)
        let result = try await body()
        try await bank.script("GRANT CONNECT ON DATABASE \(name) TO PUBLIC")
        // It tries to connect again after a pause, and until then it is unavailable.
        try await until("the service has its database") {
            try await HttpMessage("GET", "/readyz").send(to: instance.port).status == 200
        }
        return result
    }

    /// Waits until all orders of a customer are settled, without their pauses.
    func settle(_ customer: BankCustomer) async throws {
        try await until("the orders of \(customer.id) are settled") {
            try await bank.endLeases()
            return try await bank.count(
                """
                SELECT count(*) FROM countersign.execution_order o
                  JOIN countersign.action a ON a.id = o.action_id
                  JOIN countersign.customer c ON c.subject_id = a.subject_id
                 WHERE o.settled_at IS NULL AND a.execution IN ('ready', 'unknown')
                   AND c.customer_id = '\(customer.id)'
                """) == 0
        }
    }

    /// How many actions of a customer there are, or how many that something is so of.
    func actions(_ customer: BankCustomer, where condition: String = "true") async throws -> Int {
        try await bank.count(
            """
            SELECT count(*) FROM countersign.action a
              JOIN countersign.customer c ON c.subject_id = a.subject_id
             WHERE c.customer_id = '\(customer.id)' AND \(condition)
            """)
    }
}

/// A step of a case in words that this harness does not know.
struct UnknownStep: Error {
    let step: String
}

extension [Case] {
    /// Plays each case as a story of its own; what cannot be played is unsupported, and says why.
    func play(_ name: String, _ judge: (Case) async throws -> Judgement) async -> [String] {
        var isBroken = false
        return await run(name) { one in
            // Every further case would wait for what does not come any more.
            guard !isBroken else { return .deviating("not played on a broken stage") }
            do {
                return try await judge(one)
            } catch let unknown as UnknownStep {
                return .unsupported("the step “\(unknown.step)”")
            } catch let failure as ServiceProcess.Failure {
                isBroken = true
                throw failure
            }
        }
    }
}

extension Case {
    /// The steps of the story.
    var steps: [String] {
        guard case .array(let steps)? = input("steps") else { return [] }
        return steps.compactMap(\.text)
    }

    /// Whether a count is one that the case allows; `true` when it says nothing of it.
    func allows(_ count: Int, of name: String) -> Bool {
        switch expect(name) {
        case .integer(let number): count == number
        case .string(let words): words.matches(of: /[0-9]+/).contains { Int($0.0) == count }
        default: true
        }
    }
}
