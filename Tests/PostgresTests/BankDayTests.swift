import Countersign
import Postgres
import TestSupport
import Testing

/// The days by which sums are kept, where they are strange: as the database counts them for a decision.
@Suite struct `The bank's days` {
    /// An earlier transfer of 90.00 and a later one of 10.01 under a daily limit of 100.00.
    private struct Row {
        let zone: String
        let earlier: String
        let later: String
        let isSameDay: Bool

        init(_ zone: String, _ earlier: String, _ later: String, same isSameDay: Bool) {
            self.zone = zone
            self.earlier = earlier
            self.later = later
            self.isSameDay = isSameDay
        }
    }

    private static let rows = [
        // Midnight, to the millisecond, and not that of Greenwich.
        Row("Europe/Berlin", "2026-01-14T22:59:59.999Z", "2026-01-14T23:00:00.000Z", same: false),
        Row("Europe/Berlin", "2026-01-14T23:00:00.000Z", "2026-01-15T22:59:59.999Z", same: true),
        Row("Europe/Berlin", "2026-01-14T23:59:59.999Z", "2026-01-15T00:00:00.000Z", same: true),
        Row("UTC", "2026-01-14T23:59:59.999Z", "2026-01-15T00:00:00.000Z", same: false),
        Row("Asia/Tokyo", "2026-01-14T14:59:59.999Z", "2026-01-14T15:00:00.000Z", same: false),
        Row("Asia/Kathmandu", "2026-01-14T18:14:59.999Z", "2026-01-14T18:15:00.000Z", same: false),
        // The day of 23 hours, and what is before and after it.
        Row("Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z", same: true),
        Row("Europe/Berlin", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z", same: false),
        Row("Europe/Berlin", "2026-03-29T00:59:59.999Z", "2026-03-29T01:00:00.000Z", same: true),
        Row("America/New_York", "2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.999Z", same: true),
        Row(
            "America/New_York", "2026-03-08T05:00:00.000Z", "2026-03-09T04:00:00.000Z", same: false),
        // The day of 25 hours; its hour between two and three is there twice.
        Row("Europe/Berlin", "2026-10-24T22:00:00.000Z", "2026-10-25T22:59:59.999Z", same: true),
        Row("Europe/Berlin", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z", same: false),
        Row("Europe/Berlin", "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", same: true),
        Row("America/New_York", "2026-11-01T04:00:00.000Z", "2026-11-02T04:59:59.999Z", same: true),
        // A leap day, a year without one, a turn of the year.
        Row("Europe/Berlin", "2028-02-28T22:59:59.999Z", "2028-02-28T23:00:00.000Z", same: false),
        Row("Europe/Berlin", "2028-02-28T23:00:00.000Z", "2028-02-29T22:59:59.999Z", same: true),
        Row("Europe/Berlin", "2028-02-29T22:59:59.999Z", "2028-02-29T23:00:00.000Z", same: false),
        Row("Europe/Berlin", "2027-02-28T22:59:59.999Z", "2027-02-28T23:00:00.000Z", same: false),
        Row("Europe/Berlin", "2026-12-31T22:59:59.999Z", "2026-12-31T23:00:00.000Z", same: false),
        // Without daylight saving, and where a whole day was left out.
        Row("Asia/Kuwait", "2026-03-28T20:59:59.999Z", "2026-03-28T21:00:00.000Z", same: false),
        Row("Pacific/Apia", "2011-12-30T09:59:59.999Z", "2011-12-30T10:00:00.000Z", same: false),
    ]

    @Test func `begin at midnight of the policy's zone, also when the clocks change`() async throws
    {
        try await DecisionWorld.with(connections: 2) { world in
            for row in Self.rows {
                func day(_ at: String) async throws -> String {
                    // As load_decision.sql does.
                    try #require(
                        try await world.text(
                            "SELECT ('\(at)'::timestamptz AT TIME ZONE '\(row.zone)')::date::text"))
                }
                let today = try await day(row.later)
                let isSameDay = try await day(row.earlier) == today
                #expect(isSameDay == row.isSameDay, "\(row.zone) \(row.later)")
                let at = try #require(Instant(text: row.later))
                var state = Fixtures.state(at: at, payee: Fixtures.payee(establishedBefore: at))
                state.credential = nil
                state.bankDay = today
                state.used.today = isSameDay ? 9000 : 0
                let policy = try Fixtures.policy(setting: "currencies.EUR.daily_max", to: "100.00")
                #expect(
                    policy.decide(try Fixtures.transfer("10.01"), state).isAllowed
                        == !row.isSameDay, "\(row.zone) \(row.later)")
                #expect(policy.decide(try Fixtures.transfer("10.00"), state).isAllowed)
            }
        }
    }
}

extension Fixtures {
    /// A payee that was confirmed forty days before.
    fileprivate static func payee(establishedBefore at: Instant) -> RecordedPayee {
        let long = at - Seconds(40 * 86_400)
        return RecordedPayee(
            id: id(5), confirmedAt: long, usableAt: long, newUntil: long, firstExecutedAt: long)
    }
}
