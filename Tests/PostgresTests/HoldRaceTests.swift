import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

/// Everybody who may end a hold, at once, over real connections.
@Suite struct `A hold that is ended from all sides` {
    /// Whose end of the hold counted, in the order of the contestants of ``race(_:_:)``.
    private struct Tally: Sendable {
        var wins = [0, 0, 0, 0]
    }

    private static let lanes = 4

    /// 200 in the suite; the whole 10,000 take a quarter of an hour.
    private static var rounds: Int {
        ProcessInfo.processInfo.environment["COUNTERSIGN_HOLD_ROUNDS"].flatMap { Int($0) } ?? 200
    }

    @Test func `ends exactly one way`() async throws {
        let rounds = Self.rounds
        let tallies = try await inParallel(Self.lanes) { _ in
            try await HoldWorld.with { world in
                var tally = Tally()
                for round in 0..<(rounds / Self.lanes) {
                    tally.wins[try await race(world, round)] += 1
                }
                try await audit(world, tally, rounds: rounds / Self.lanes)
                return tally
            }
        }
        let wins = (0..<4).map { index in tallies.reduce(0) { $0 + $1.wins[index] } }
        print(
            "holds ended: \(rounds) rounds; released by officers \(wins[0]), cancelled by officers",
            "\(wins[1]), released in time \(wins[2]), cancelled by the bank \(wins[3])")
        #expect(wins.reduce(0, +) == rounds / Self.lanes * Self.lanes)
    }

    /// One hold, whose time has come, with an act for its release and one for its cancelling that each need
    /// one more signature.
    private func race(_ world: HoldWorld, _ round: Int) async throws -> Int {
        let action = try await world.held()
        try await world.bank.test.tamper(
            with: "action",
            """
            hold_until = date_trunc('milliseconds', clock_timestamp())
             WHERE id = '\(action.text)'
            """)
        try await world.bank.test.decideHoldsAnew()
        let acts = [
            try await world.proposed(.releaseHold, action),
            try await world.proposed(.cancelHold, action),
        ]
        var commands: [SignActCommand] = []
        for act in acts {
            let question = try await world.people.acts.challenge(act, for: world.bert.person)
            commands.append(try AskedAct(question).command(world.bert))
        }
        let context = try #require(
            try await world.bank.store.load(action: action, challenge: nil, credential: nil))
        let signatures = commands
        let outcomes = try await inParallel(4) { number -> Bool in
            if number > 1 {
                // A signature is verified first: the others wait about as long, or nobody would meet.
                try await Task.sleep(for: .microseconds(Int.random(in: 0..<60_000)))
            }
            switch number {
            case 0, 1:
                let outcome = try await world.people.acts.sign(signatures[number])
                #expect(outcome.state == .done || outcome.refusal == .notHeld, "\(outcome)")
                return outcome.state == .done
            case 2: return try await world.bank.housekeeping.settleDueActions() > 0
            default:
                return try await world.bank.store.cancel(reason: "mistake", on: context) != nil
            }
        }
        #expect(outcomes.count(where: \.self) == 1, "round \(round): \(outcomes)")
        let winner = try #require(outcomes.firstIndex(of: true))
        #expect(
            try await world.execution(action) == (winner.isMultiple(of: 2) ? .ready : .cancelled))
        for (number, act) in acts.enumerated() where number != winner {
            let reason = try DisplayText("somebody was quicker", .reason)
            let outcome = try await world.people.acts.withdraw(
                act, by: world.anna.person, reason: reason)
            #expect(outcome.state == .withdrawn)
        }
        return winner
    }

    /// What the books say after all rounds.
    private func audit(_ world: HoldWorld, _ tally: Tally, rounds: Int) async throws {
        #expect(try await world.people.evidence(.actionReleased) == tally.wins[0] + tally.wins[2])
        #expect(try await world.people.evidence(.actionCancelled) == tally.wins[1] + tally.wins[3])
        let twice = try await world.bank.count(
            """
            SELECT count(*) FROM (
                SELECT FROM countersign.evidence
                 WHERE kind IN ('action.released', 'action.cancelled')
                 GROUP BY action_id HAVING count(*) > 1) x
            """)
        #expect(twice == 0)
        let events = try await world.bank.count(
            "SELECT count(*) FROM countersign.event WHERE kind IN ('hold.ended', 'hold.cancelled')")
        #expect(events == rounds)
        let done = try await world.bank.count(
            "SELECT count(*) FROM countersign.act WHERE state = 'done'")
        #expect(done == tally.wins[0] + tally.wins[1])
        let reserved = try await world.bank.count(
            "SELECT count(*) FROM countersign.reservation WHERE returned_at IS NULL "
                + "AND dimension LIKE 'day:%'")
        #expect(reserved == tally.wins[0] + tally.wins[2])
        #expect(try await world.faultsBesideHolds() == [])
    }
}
