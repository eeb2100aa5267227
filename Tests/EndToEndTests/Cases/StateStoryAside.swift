import Countersign
import Foundation
import TestSupport

@testable import CountersignMain

/// What happens to an action without a call of the API.
extension StateStory {
    /// Does a step that is no request of an action's; `false` for words that are not known.
    func playAside(_ step: String) async throws -> Bool {
        if step.contains(/kill|crash/) {
            try await stage.comeBack()
        } else if step == "restart" || step.contains("restarts") {
            try await stage.restart()
        } else if step.hasPrefix("edit ") {
            try await edit(step)
        } else if let device = step.wholeMatch(of: /enrol (device-[a-z])/) {
            devices[String(device.1)] = try await stage.enrolAnother(for: customer)
        } else if step.wholeMatch(of: /revoke (device-[a-z])/) != nil {
            record(
                try await stage.instance.backend().revoke(customer.credential, reason: "lost"))
        } else if step.contains(/expires|expiry passes/) {
            try await expire(inSeconds: 0, whole: !step.contains("challenge"))
        } else if step.hasPrefix("core ") || step == "retry" || step.contains("reconcil") {
            try await stage.settle(customer)
        } else {
            return false
        }
        return true
    }

    /// There is no call that edits an action, so somebody with the database's keys does it.
    private func edit(_ step: String) async throws {
        guard let action = actions.last else { throw UnknownStep(step: step) }
        let refused = try await stage.instance.send(
            "PATCH", "/v1/actions/\(action)", fields: ["Content-Type: application/json"],
            body: Bytes(#"{"transfer":{"amount":"1200.00"}}"#.utf8))
        guard (400..<500).contains(refused.status) else {
            throw Unexpected("an action was edited: \(refused.status)")
        }
        var changes: [String] = []
        if let money = step.firstMatch(of: /to ([0-9.]+)(?: ([A-Z]{3}))?/) {
            let minor = money.1.replacing(".", with: "")
            changes.append("amount = '\(money.1)', amount_minor = \(minor)")
            if let currency = money.2 { changes.append("currency = '\(currency)'") }
        } else if step.contains(/iban|account/.ignoresCase()) {
            changes.append("payee_account = 'iban:NL91ABNA0417164300'")
        } else if step.contains(/payee|name/.ignoresCase()) {
            changes.append("payee_name = 'Mallory'")
        } else if step.contains(/reference|remittance/.ignoresCase()) {
            changes.append("reference = 'changed'")
        } else if step.contains(/debtor|source/.ignoresCase()) {
            changes.append("debtor_account = 'iban:NL91ABNA0417164300'")
        } else {
            throw UnknownStep(step: step)
        }
        try await stage.bank.changingActions(
            "UPDATE countersign.action SET \(changes.joined(separator: ", ")) WHERE id = '\(action)'"
        )
    }

    /// Moves the newest question, or its action, so that it expires at the next full second after some.
    func expire(inSeconds seconds: Int, whole: Bool = false) async throws {
        guard let question = questions[""] else { throw UnknownStep(step: "expiry of nothing") }
        if whole {
            try await stage.bank.changingActions(
                """
                UPDATE countersign.action SET expires_at =
                       date_trunc('second', clock_timestamp()) + interval '\(seconds) seconds'
                 WHERE id = '\(question.action)'
                """)
        } else {
            keep(try await stage.bank.move(question, expiresInSeconds: seconds))
        }
    }

    /// Lets seconds pass since the newest question was asked.
    func expire(afterSeconds seconds: Int) async throws {
        guard let question = questions[""] else { throw UnknownStep(step: "expiry of nothing") }
        let lifetime = try await stage.bank.count(
            """
            SELECT extract(epoch FROM expires_at - created_at)::bigint FROM countersign.challenge
             WHERE id = '\(question.challenge)'
            """)
        keep(
            try await stage.bank.move(question, expiresInSeconds: lifetime - seconds))
    }
}
