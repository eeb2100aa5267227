import Countersign
import Testing

@Suite struct `Instants` {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1),
            ("1969-12-31T23:59:59Z", -1000), ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400_000), ("2000-03-01T00:00:00Z", 951_868_800_000),
            ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
            ("2026-01-05T10:00:00Z", 1_767_607_200_000),
            ("2038-01-19T03:14:08Z", 2_147_483_648_000),
            ("1900-03-01T00:00:00Z", -2_203_891_200_000),
            ("2100-02-28T00:00:00Z", 4_107_456_000_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
            ("0000-03-01T00:00:00Z", -62_162_035_200_000),
        ] as [(String, Int64)])
    func `have one text`(text: String, milliseconds: Int64) {
        #expect(Instant(text: text)?.milliseconds == milliseconds)
        #expect(Instant(milliseconds: milliseconds).text == text)
    }

    @Test(arguments: [
        "", "2026-01-05", "2026-01-05T10:00:00", "2026-01-05T10:00:00z", "2026-01-05t10:00:00Z",
        "2026-01-05 10:00:00Z", "2026-01-05T10:00:00+00:00", "2026-01-05T10:00:00-00:00",
        "2026-01-05T10:00Z", "2026-01-05T10:00:00.Z", "2026-01-05T10:00:00.1Z",
        "2026-01-05T10:00:00.12Z", "2026-01-05T10:00:00.1234Z", "2026-01-05T10:00:00,123Z",
        "2026-01-05T24:00:00Z", "2026-01-05T10:60:00Z", "2016-12-31T23:59:60Z",
        "2026-00-05T10:00:00Z", "2026-13-05T10:00:00Z", "2026-01-00T10:00:00Z",
        "2026-01-32T10:00:00Z", "2026-02-29T10:00:00Z", "1900-02-29T10:00:00Z",
        "2100-02-29T10:00:00Z", "2026-04-31T10:00:00Z", "2026-1-5T10:00:00Z  ",
        "+2026-01-05T10:00:00Z", "-026-01-05T10:00:00Z", " 026-01-05T10:00:00Z",
        "2026-01-05T10:00:00Z ", "12026-01-05T10:00:00Z", "2026-01-05T10:00:00.12\u{663}",
        "20260105T100000Z", "2026-01-05T1a:00:00Z", "2026/01/05T10:00:00Z",
        "2026-01-05T10.00.00Z", "Z2026-01-05T10:00:00",
    ])
    func `are refused in any looser form`(text: String) {
        #expect(Instant(text: text) == nil)
    }

    /// Every day of 1,200 years: each follows the one before, and months have their lengths.
    @Test func `are read from their own text over three eras`() throws {
        let first = try #require(Instant(text: "1600-01-01T00:00:00Z"))
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var instant = first
        for year in 1600..<2800 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            for month in 1...12 {
                let days = lengths[month - 1] + (month == 2 && isLeap ? 1 : 0)
                for day in [1, 2, 28, days - 1, days] {
                    let date = instant + Seconds(Int64(day - 1) * 86_400)
                    let text = "\(year)-\(padded(month))-\(padded(day))T00:00:00Z"
                    #expect(date.text == text)
                    #expect(Instant(text: text) == date)
                }
                #expect(
                    Instant(text: "\(year)-\(padded(month))-\(padded(days + 1))T00:00:00Z") == nil)
                instant = instant + Seconds(Int64(days) * 86_400)
            }
        }
    }

    private func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    @Test(
        arguments: [
            (0, 0), (1, 0), (999, 0), (1000, 1000), (1999, 1000), (-1, -1000), (-999, -1000),
            (-1000, -1000), (-1001, -2000),
        ] as [(Int64, Int64)])
    func `lose their fraction towards the past`(milliseconds: Int64, whole: Int64) {
        #expect(Instant(milliseconds: milliseconds).wholeSeconds.milliseconds == whole)
    }

    @Test func `are moved by seconds and compared`() {
        let instant = Instant(milliseconds: 1500)
        #expect((instant + Seconds(2)).milliseconds == 3500)
        #expect((instant - Seconds(2)).milliseconds == -500)
        #expect(instant - Seconds(1) < instant)
        #expect(Seconds(1) < Seconds(2))
    }
}
