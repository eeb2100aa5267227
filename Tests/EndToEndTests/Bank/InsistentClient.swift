import Countersign
import Foundation
import TestSupport

@testable import CountersignMain

/// The instance that serves just now. Whoever finds it dead starts the next one, once.
actor Shift {
    private let bank: TestBank
    private(set) var instance: ServiceInstance
    /// How often an instance was found killed and another one started.
    private(set) var restarts = 0
    private var restarting: Task<ServiceInstance, any Error>?
    private var flags: [[String]]

    /// - Parameters:
    ///   - instance: The first one.
    ///   - flags: Those of the instances after it; later ones have none.
    init(_ instance: ServiceInstance, then flags: [[String]] = []) {
        bank = instance.bank
        self.instance = instance
        self.flags = flags
    }

    /// The instance after a dead one.
    func instance(after dead: ServiceInstance) async throws -> ServiceInstance {
        if dead.process !== instance.process { return instance }
        if let restarting { return try await restarting.value }
        let next = flags.isEmpty ? [] : flags.removeFirst()
        let task = Task { [bank] in
            let ending = try await dead.process.ending()
            guard ending == .killed(signal: SIGKILL) else {
                throw Unexpected("an instance ended by itself: \(ending) \(dead.process.text)")
            }
            return try await bank.serve(next)
        }
        restarting = task
        instance = try await task.value
        restarting = nil
        restarts += 1
        return instance
    }
}

/// A caller that does what the contract asks of it: it sends the same request until it is answered.
final class InsistentClient: Sendable {
    private let shift: Shift

    init(_ shift: Shift) { self.shift = shift }

    /// Sends until there is an answer that is no 503.
    func insist(
        _ send: (BankClient) async throws -> BankClient.Answer
    ) async throws -> BankClient.Answer {
        var instance = await shift.instance
        for _ in 0..<2000 {
            do {
                let answer = try await send(try instance.backend())
                if answer.status != 503 { return answer }
            } catch is CommandFailure {
                // No answer. A process that was killed may still look alive for a moment.
                if !instance.process.isRunning {
                    instance = try await shift.instance(after: instance)
                }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Unexpected("no answer after 2000 attempts")
    }
}

/// An approval that the caller was told of.
struct Acknowledged: Sendable {
    let action: String
    let evidence: String
    /// The bytes that the phone signed.
    let message: Bytes
    /// Whether the last answer was a repetition.
    let isReplay: Bool
    /// Whether the creation's was.
    let wasCreatedBefore: Bool
    /// From before it was first asked for until it was acknowledged; `nil` where nobody has looked at the clock.
    var span: Span?
    /// The service's word that the log has it; `nil` where nobody has kept that.
    var promise: String?
}

extension InsistentClient {
    /// Creates a transfer and approves it, insisting on both.
    func pay(
        _ amount: String = "1.00", from customer: BankCustomer, key: String
    ) async throws -> Acknowledged {
        let created = try await insist {
            try await $0.create(
                customer.transfer(amount, reference: key), idempotencyKey: key)
        }
        guard created.status == 201, let question = created.question else {
            throw Unexpected("not created: \(created.status) \(created.problem ?? "")")
        }
        // Signed once: the same bytes are sent each time.
        let body = try customer.approval(question)
        let begin = ContinuousClock.now
        let approved = try await insist { try await $0.approve(question.action, body) }
        guard approved.status == 200, let evidence = approved.text("evidence_id"),
            let promise = approved.text("promise")
        else {
            throw Unexpected("not approved: \(approved.status) \(approved.problem ?? "")")
        }
        return Acknowledged(
            action: question.action, evidence: evidence, message: question.approve,
            isReplay: approved.isReplay, wasCreatedBefore: created.isReplay,
            span: Span(begin: begin, end: .now, id: evidence), promise: promise)
    }
}

/// Tells how many approvals were acknowledged, to those who wait for a number of them.
actor Progress {
    private(set) var acknowledged: [Acknowledged] = []

    func add(_ approval: Acknowledged) { acknowledged.append(approval) }

    nonisolated func reaches(_ count: Int) async throws {
        try await until("\(count) approvals are acknowledged") {
            await acknowledged.count >= count
        }
    }
}

extension Progress {
    /// Lets every customer pay some times, all customers at once.
    nonisolated func rush(
        _ customers: [BankCustomer], payments: Int, through shifts: [Shift]
    ) async throws {
        try await withThrowingTaskGroup { group in
            for (index, customer) in customers.enumerated() {
                group.addTask {
                    let client = InsistentClient(shifts[index % shifts.count])
                    for number in 0..<payments {
                        let key = "\(customer.id)-\(number)"
                        await self.add(try await client.pay(from: customer, key: key))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
