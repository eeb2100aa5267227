import Countersign
import Crypto

/// The story that the demo tells: every step is played over real HTTP and checked.
///
/// A `✓` stands only before what was checked. What does not turn out as told is shown with what was
/// expected, and counted.
struct Story: Sendable {
    typealias Answer = APIClient.Answer

    let bank: DemoBank
    let phone: SoftwarePhone
    /// What later chapters need of earlier ones.
    var memory = Memory()
    /// How many checks failed.
    private(set) var failures = 0
    private(set) var checks = 0
    private var steps = 0

    /// IDs and answers that later steps come back to.
    struct Memory: Sendable {
        var deviceKey = ""
        var passkey = ""
        var heldTransfer = ""
        var executed = ""
        var approval = JSON.null
        var approved: Answer?
    }

    init(bank: DemoBank) throws {
        self.bank = bank
        phone = try SoftwarePhone(
            relyingPartyID: DemoHome.relyingPartyID, origin: DemoHome.origin)
    }

    var customer: String { DemoBank.customer }

    /// Plays all chapters in their order; later ones build on earlier ones.
    ///
    /// - Throws: ``CommandFailure`` when the story cannot go on; `CancellationError` when it must not.
    mutating func play() async throws {
        try await enrolDeviceKey()
        try await addPayee()
        try await payNewPayee()
        try await payKnownPayee()
        try await sendAgain()
        try await changeAmountBeforeSigning()
        try await moveSignature()
        try await useWrongKey()
        try await enrolPasskey()
        try await payByBrowser()
        try await hitLimit()
        try await tunePolicy()
        try await payUnderNewPolicy()
        try await approveForCustomerWithoutKey()
        try await changeContact()
        try await rejectAndCancel()
        try await receiveEvents()
        try await listEvidence()
        try await verifyEvidence()
        try await takeBundle()
        try await catchSuperuser()
    }
}

// MARK: - Telling

extension Story {
    /// Begins a step.
    ///
    /// - Throws: `CancellationError` when the demo is to end; ``CommandFailure`` when a server died.
    mutating func step(_ title: String) async throws {
        try Task.checkCancellation()
        try await bank.processes.requireServers()
        steps += 1
        Console.out("\n\(steps < 10 ? " " : "")\(steps)  \(title)")
    }

    func say(_ text: String) { Console.out("      \(text)") }

    func asked(_ text: String) { Console.out("    → \(text)") }

    /// Shows what came back, in one line.
    func came(_ answer: Answer, _ more: String? = nil) {
        let parts = [String(answer.status), answer.problem, more].compactMap(\.self)
        Console.out("    ← " + parts.joined(separator: "  "))
    }

    /// Shows what the phone shows, decoded from the bytes that it signs.
    mutating func show(_ message: Bytes, says text: String) throws {
        guard let screen = PhoneScreen(message) else {
            throw CommandFailure("the phone cannot read what it is to sign")
        }
        Console.out("    ▯ \(screen.text)")
        check("the phone shows what the bytes say", screen.text, is: text)
    }

    /// Checks that something came out as told.
    mutating func check(_ what: String, _ value: String?, is expected: String) {
        check(what, value == expected, expected: expected, came: value ?? "nothing")
    }

    mutating func check(
        _ what: String, _ isSo: Bool, expected: @autoclosure () -> String = "yes",
        came: @autoclosure () -> String = "no"
    ) {
        checks += 1
        if isSo {
            Console.out("    ✓ \(what)")
        } else {
            failures += 1
            Console.out("    ✗ \(what)\n      expected: \(expected())\n      came:     \(came())")
        }
    }

    /// Checks the status of an answer, and its problem when there should be one.
    mutating func check(
        _ what: String, _ answer: Answer, _ status: Int, _ problem: String? = nil
    ) {
        check(
            what, answer.status == status && answer.problem == problem,
            expected: "\(status) \(problem ?? "")",
            came: "\(answer.status) \(String(decoding: answer.body.prefix(600), as: UTF8.self))")
    }
}

// MARK: - What several chapters do

extension Story {
    /// Has the backend ask for an action, and returns the question to the customer.
    mutating func ask(_ what: String, _ action: JSON) async throws -> (Answer, Question) {
        asked("POST /v1/actions  \(what)")
        let answer = try await bank.backend.create(action)
        guard let question = answer.question else {
            check("the action is stored", answer, 201)
            throw CommandFailure("the story cannot go on without this action")
        }
        came(answer, "action \(question.action) pending")
        return (answer, question)
    }

    /// Signs with the device key and sends the approval.
    mutating func approve(_ question: Question) async throws -> Answer {
        let answer = try phone.answer(
            question.challenge, over: question.approve, as: memory.deviceKey)
        return try await approve(question, with: answer)
    }

    func approve(_ question: Question, with answer: JSON) async throws -> Answer {
        asked("POST /v1/actions/\(question.action)/approve  challenge and signature")
        let answer = try await bank.backend.approve(question.action, answer)
        came(answer, answer.decision)
        return answer
    }

    /// The action once core banking has answered, or as it is after some seconds.
    func settled(_ action: String) async throws -> Answer {
        for _ in 0..<300 {
            let answer = try await bank.backend.action(action)
            let execution = answer.text("action", "execution")
            if execution != "ready", execution != "in_progress" { return answer }
            try await Task.sleep(for: .milliseconds(50))
        }
        return try await bank.backend.action(action)
    }
}

extension APIClient.Answer {
    /// A decision in a line: `approved, held until … by payee_cooling_off`.
    var decision: String? {
        guard let authorization = text("action", "authorization"),
            let execution = text("action", "execution")
        else { return nil }
        guard execution == "held", let until = text("action", "hold", "until"),
            let rule = text("action", "hold", "rule")
        else { return "\(authorization), execution \(execution)" }
        return "\(authorization), execution \(execution) until \(until) by the rule \(rule)"
    }
}
