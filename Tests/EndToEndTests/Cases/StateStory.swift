import Countersign
import Crypto
import Foundation
import TestSupport

@testable import CountersignMain

/// The story of one action as the cases tell it, in plain words.
final class StateStory {
    typealias Answer = BankClient.Answer

    let stage: Stage
    let customer: BankCustomer
    /// Every action that was created.
    private(set) var actions: [String] = []
    /// Every answer, in order.
    private(set) var answers: [Answer] = []
    /// Whether the service died on the way, and a caller may have got no answer.
    private(set) var wasKilled = false
    /// Who can sign, by the name in the story.
    var devices: [String: BankCustomer]
    /// The questions by the name in the story; the newest one also by no name.
    private(set) var questions: [String: Question] = [:]
    /// The last approval as it was sent, to be sent again.
    private var lastApproval: JSON?

    init(_ stage: Stage, _ customer: BankCustomer) {
        self.stage = stage
        self.customer = customer
        devices = ["": customer, "device-a": customer]
    }

    /// Plays all steps in order.
    ///
    /// - Throws: ``UnknownStep`` for words that are not known.
    func play(_ steps: [String]) async throws {
        try await prepare(steps)
        for step in steps { try await play(step) }
        if changedPolicy { try await stage.bank.policy("{factors,transfer}", Self.allFactors) }
        if changedCore { try await stage.coreBanking(faults: "") }
    }

    private var changedPolicy = false
    private var changedCore = false
    private static let allFactors = #"["device_key", "passkey"]"#

    /// A crash and a failing core banking are arranged before the step that they hit.
    private func prepare(_ steps: [String]) async throws {
        let story = steps.joined(separator: "; ")
        if let place = Self.failpoint(story) {
            wasKilled = true
            try await stage.restart(failpoint: place)
        }
        guard let step = steps.first(where: { $0.hasPrefix("core ") }) else { return }
        changedCore = true
        let never = step.contains("never") || step.contains("down") || step.contains("refuse")
        try await stage.coreBanking(faults: never ? "fail-before" : "fail-after")
    }

    /// Where the words of a story let the service die.
    private static func failpoint(_ story: String) -> String? {
        guard story.contains("kill") || story.contains("crash") else { return nil }
        let afterCore = ["core", "call", "execut", "deliver", "send", "sent"]
        for step in story.split(separator: "; ") where step.contains(/kill|crash/) {
            if step.contains("before the commit") || step.contains("before commit") {
                return "approve.before-commit"
            }
            if step.contains("after the commit") || step.contains("before the answer") {
                return "approve.after-commit"
            }
            if step.contains("verif") { return "approve.after-load" }
            if afterCore.contains(where: step.contains) {
                return step.contains("before the c") || step.contains("before it")
                    ? "delivery.after-claim" : "delivery.after-push"
            }
        }
        return "approve.after-commit"
    }

    // MARK: Steps

    private func play(_ step: String) async throws {
        if let group = step.wholeMatch(of: /parallel( at expiry)?: (.*)/) {
            // What is swept is the action: with the question alone nothing would ever end it.
            if group.1 != nil {
                try await expire(inSeconds: 1, whole: step.contains("sweeper"))
            }
            return try await playAtOnce(String(group.2))
        }
        if step.contains("first instance"), step.contains("second instance") {
            return try await approveElsewhere()
        }
        if let (count, act) = try await act(step) {
            for _ in 0..<count { record(try await act()) }
            // "Approve A" alone means that it is executed, too.
            if !wasKilled, !changedCore, answers.last?.isApproval == true {
                try await stage.settle(customer)
            }
            return
        }
        guard try await playAside(step) else { throw UnknownStep(step: step) }
    }

    /// A caller without an answer has learned nothing.
    func record(_ answer: Answer?) {
        guard let answer else { return }
        answers.append(answer)
        if let question = answer.question { keep(question) }
    }

    func keep(_ question: Question, as name: String = "") {
        questions[name] = question
        questions[""] = question
        if !actions.contains(question.action) { actions.append(question.action) }
    }

    private typealias Act = @Sendable () async throws -> Answer?

    /// A request that callers make, prepared to be sent a number of times.
    private func act(_ step: String) async throws -> (Int, Act)? {
        let counted = step.wholeMatch(of: /([0-9]+) x (.*)/)
        let count = counted.flatMap { Int($0.1) } ?? 1
        let words = counted.map { String($0.2) } ?? step
        if words.hasPrefix("create ") {
            try await create(words)
            return (0, { nil })
        }
        if words.hasPrefix("challenge ") {
            try await challenge(words)
            return (0, { nil })
        }
        let action = actions.last ?? ""
        let instance = stage.instance
        if words.contains("approve") {
            let body = try await approval(words)
            return (
                count,
                { [wasKilled] in
                    try await Self.send(mayFail: wasKilled) {
                        try await instance.backend().approve(action, body)
                    }
                }
            )
        }
        if words.hasPrefix("cancel ") {
            return (count, { try await instance.backend().cancel(action, reason: "changed") })
        }
        if words.hasPrefix("reject ") {
            guard let question = questions[""] else { throw UnknownStep(step: step) }
            let body = try customer.phone.answer(
                question.challenge, over: question.reject, as: customer.credential)
            return (count, { try await instance.backend().reject(action, body) })
        }
        return nil
    }

    private static func send(
        mayFail: Bool, _ body: () async throws -> Answer
    ) async throws -> Answer? {
        do { return try await body() } catch let error as CommandFailure {
            if mayFail { return nil }
            throw error
        }
    }

    private func create(_ words: String) async throws {
        let amount = words.firstMatch(of: /\(([0-9.]+)/).map { String($0.1) } ?? "120.00"
        if words.contains("passkey") {
            changedPolicy = true
            try await stage.bank.policy("{factors,transfer}", #"["passkey"]"#)
        } else if words.contains("device key") {
            changedPolicy = true
            try await stage.bank.policy("{factors,transfer}", #"["device_key"]"#)
        }
        record(try await stage.instance.backend().create(customer.transfer(amount)))
    }

    /// Asks again; at which time of day makes no difference to a period that is counted from it.
    private func challenge(_ words: String) async throws {
        if actions.isEmpty { try await create("create A") }
        guard let action = actions.last else { throw UnknownStep(step: words) }
        let answer = try await stage.instance.backend().challenge(action)
        record(answer)
        guard let question = answer.question else { return }
        if let name = words.firstMatch(of: /-> (c[0-9]+)/) {
            keep(question, as: String(name.1))
        }
    }

    // MARK: Approvals

    /// The body of an approval as the words describe it.
    private func approval(_ words: String) async throws -> JSON {
        if words.hasPrefix("client retries") || words.contains("again") || words == "retry approve",
            let lastApproval
        {
            return lastApproval
        }
        // Who approves without asking uses the question that came with the action.
        let name = words.firstMatch(of: /\bc[0-9]+\b/).map { String($0.0) } ?? ""
        try await pass(words)
        guard let question = questions[name] else { throw UnknownStep(step: words) }
        let device = words.firstMatch(of: /by (device-[a-z]|user-[a-z])/).map { String($0.1) } ?? ""
        let signer = try await signer(device)
        let isBad = words.contains(/bad|wrong|invalid/)
        let message = isBad ? question.reject : question.approve
        var body = try signer.phone.answer(
            question.challenge, over: message, as: signer.credential)
        if words.contains("in the approve body"), case .object(let members) = body {
            let amount = words.firstMatch(of: /amount ([0-9.]+)/).map { String($0.1) } ?? "1.00"
            body = .object(members + [.init("amount", .string(amount))])
        }
        lastApproval = body
        return body
    }

    /// Lets the time pass that an approval is told to come after.
    private func pass(_ words: String) async throws {
        if let at = words.firstMatch(of: /at T ?([+-]) ?([0-9]+) (ms|s)/) {
            let seconds = at.3 == "ms" ? 0 : Int(at.2) ?? 0
            // Just expired at T +1 ms; a second before T there is still most of a second left.
            try await expire(inSeconds: at.1 == "+" ? -seconds : max(1, seconds) + 1)
        } else if words.contains("at exactly") || words.hasSuffix("at T") {
            try await expire(inSeconds: 0, whole: words.contains("action"))
        } else if let later = words.firstMatch(of: /([0-9]+) (s|min|h) later/) {
            let unit = ["s": 1, "min": 60, "h": 3600][String(later.2)] ?? 1
            try await expire(afterSeconds: (Int(later.1) ?? 0) * unit)
        }
    }

    private func signer(_ name: String) async throws -> BankCustomer {
        if let known = devices[name] { return known }
        guard name.hasPrefix("user-") else { throw UnknownStep(step: "by \(name)") }
        let other = try await stage.customer()
        devices[name] = other
        return other
    }

    private func approveElsewhere() async throws {
        let created = try await stage.instance.backend().create(customer.transfer())
        record(created)
        let second = try await stage.bank.serve()
        let body = try await approval("approve")
        record(try await second.backend().approve(actions.last ?? "", body))
        second.process.signal(SIGTERM)
        _ = try await second.process.ending()
    }

    /// Everything between the commas at once.
    private func playAtOnce(_ words: String) async throws {
        var acts: [Act] = []
        for part in words.split(separator: ",") {
            let step = part.trimmingCharacters(in: .whitespaces)
            // The service sweeps by itself, twice a second.
            if step.contains("sweeper") { continue }
            guard let (count, act) = try await act(step) else { throw UnknownStep(step: step) }
            acts += Array(repeating: act, count: count)
        }
        let answers = try await acts.shuffledEvenly.asyncMapConcurrently { try await $0() }
        for answer in answers { record(answer) }
        if words.contains("sweeper"), let action = actions.last {
            try await until("the action is decided or expired") {
                try await stage.bank.text(
                    "SELECT \"authorization\" FROM countersign.action WHERE id = '\(action)'")
                    != "pending"
            }
        }
    }
}

extension Array {
    /// In an order in which kinds alternate: the first, the middle one, the second, the next …
    fileprivate var shuffledEvenly: [Element] {
        let half = (count + 1) / 2
        return (0..<half).flatMap { index in
            index + half < count ? [self[index], self[index + half]] : [self[index]]
        }
    }
}
