import Countersign
import Crypto
import Evidence
import Postgres
import TestSupport
import Testing

/// The end of an officer's key beside what officers are refused with it.
@Suite struct `The end of a key that was refused something` {
    private func refusedAnswer(
        _ world: AssistedWorld
    ) async throws -> SignActCommand {
        let act = try await world.proposed(world.pending().id)
        let answer = try AskedAct(
            try await world.people.acts.challenge(act, for: world.bert.person)
        ).command(world.bert)
        try await world.bank.policy([
            "{assisted}": #"{"hold_s": 86400, "max": {"EUR": "149.99"}}"#
        ])
        return answer
    }

    private func expectRefused(_ world: AssistedWorld, _ answer: SignActCommand) async throws {
        let outcome = try await world.people.acts.sign(answer)
        guard case .action(.policy(.limitExceeded(.assistedMax, _, _)))? = outcome.refusal else {
            Issue.record("\(outcome)")
            return
        }
    }

    /// Whoever ends a key has sealed the evidence of it, and waits; meanwhile that key is refused something.
    @Test(arguments: [true, false], [true, false])
    func `is told after it, however the two raced`(
        isLast: Bool, isByOperator: Bool
    ) async throws {
        try await AssistedWorld.with { world in
            let answer = try await refusedAnswer(world)
            let key = isLast ? world.bert : world.anna
            let reason = try DisplayText("left the bank", .reason)
            let people = try await Blocker(world.bank.test, key: "7013, 2")
            async let ended =
                isByOperator
                ? world.people.administration.revokePersonKey(key.recorded.id, reason: reason)
                : world.people.keys.revoke(key.recorded.id, of: key.person)?.status == .revoked
            try await people.waiters(1)
            try await expectRefused(world, answer)
            try await people.release()
            #expect(try await ended)
            let rows = try await world.bank.test.sql(
                "SELECT kind FROM countersign.evidence ORDER BY id DESC LIMIT 3")
            let kinds: [String] = try rows.map { try $0["kind"] }
            #expect(kinds == ["person.key_revoked", "action.refused", "act.refused"])
            #expect(try await world.faults() == [])
        }
    }

    @Test func `is told after the latest, in whatever order they are written`() async throws {
        try await AssistedWorld.with { world in
            let answer = try await refusedAnswer(world)
            // As if another refusal, which was sealed later, had been quicker.
            let later = ID<Evidence>(rawValue: .max - 1).text
            try await world.bank.test.sql(
                """
                UPDATE countersign.person_key SET last_evidence_id = '\(later)'
                 WHERE client_id = '\(world.anna.person.text)'
                """)
            try await expectRefused(world, answer)
            let rows = try await world.bank.test.sql(
                """
                SELECT last_evidence_id::text AS last FROM countersign.person_key
                 ORDER BY last_evidence_id DESC
                """)
            let last: [String] = try rows.map { try $0["last"] }
            let refusal = try await world.bank.text(
                "SELECT id FROM countersign.evidence WHERE kind = 'action.refused'")
            #expect(last == [later, refusal])
        }
    }
}
