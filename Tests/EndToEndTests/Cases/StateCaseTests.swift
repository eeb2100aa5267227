import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The published cases of the life of an action, on the running service; the area prints one line.
@Suite struct `Published cases of states` {
    @Test func `are told and turn out as they should`() async throws {
        guard let cases = try Cases.domain("state") else { return }
        try await Stage.open { stage in
            let deviating = await cases.play("domain.jsonl state") { one in
                for _ in 0..<5 {
                    let story = StateStory(stage, try await stage.customer())
                    try await story.play(one.steps)
                    if story.missedTheMoment(one) { continue }
                    return try await story.judgement(of: one)
                }
                return .unsupported("a moment that a busy machine missed five times")
            }
            #expect(deviating.isEmpty)
            try await stage.bank.audit([])
        }
    }
}

extension StateStory {
    /// Whether an approval that should come just before the end came after it: that can happen to the
    /// second that is left, and says nothing.
    func missedTheMoment(_ one: Case) -> Bool {
        one.verdict == "accept" && answers.last?.problem == "challenge-expired"
            && one.steps.contains { $0.contains("at T -") }
    }

    func judgement(of one: Case) async throws -> Judgement {
        if let defect = answers.first(where: { $0.status >= 500 }) {
            return .deviating("answered \(defect.status)")
        }
        try await stage.settle(customer)
        let executed = try stage.bank.bookings().count { actions.contains($0.actionID.text) }
        let approved = answers.contains { $0.status == 200 && !$0.isReplay && $0.isApproval }
        guard executed == 0 || approved || wasKilled else {
            return .deviating("executed without an approval")
        }
        guard executed <= actions.count, one.allows(executed, of: "executed") else {
            return .deviating("executed \(executed) times")
        }
        if let contradiction = try await contradiction(executed) { return contradiction }
        let last = answers.last?.status ?? 0
        switch one.verdict {
        case "invariant": return .asExpected
        case "accept", "reject", "either":
            if let reason = one.expect("reason")?.text, reason != "ok", last >= 400,
                answers.last?.problem != reason.replacing("_", with: "-")
            {
                return .deviating("refused as \(answers.last?.problem ?? "?")")
            }
            return one.judge(accepted: (200..<300).contains(last))
        default: return .unsupported("the verdict \(one.verdict)")
        }
    }

    /// Whether the action's one state, its evidence and core banking disagree.
    private func contradiction(_ executed: Int) async throws -> Judgement? {
        for action in actions {
            let state = try await stage.bank.text(
                """
                SELECT "authorization" || ' ' || execution FROM countersign.action
                 WHERE id = '\(action)'
                """)
            let booked = try stage.bank.bookings().contains { $0.actionID.text == action }
            guard booked == (state == "approved executed") else {
                return .deviating("booked \(booked) although \(state ?? "gone")")
            }
            let decided = try await stage.bank.count(
                """
                SELECT count(*) FROM countersign.evidence WHERE action_id = '\(action)' AND kind IN
                   ('action.approved', 'action.rejected', 'action.expired', 'action.failed')
                """)
            guard decided <= 1 else { return .deviating("\(decided) ends in the evidence") }
        }
        return nil
    }
}

extension APIClient.Answer {
    /// Whether it tells of an approval.
    var isApproval: Bool { text("action", "authorization") == "approved" }
}
