/// A point in time: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// Decisions take their instants from the database (`docs/architecture.md`), never from this machine.
package struct Instant: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (left: Self, right: Self) -> Bool {
        left.milliseconds < right.milliseconds
    }

    package static func + (instant: Self, seconds: Seconds) -> Self {
        Instant(milliseconds: instant.milliseconds + seconds.count * 1000)
    }

    package static func - (instant: Self, seconds: Seconds) -> Self {
        Instant(milliseconds: instant.milliseconds - seconds.count * 1000)
    }

    /// Whether it is of the years 1970 to 9999: what whoever sends a time may say, and every part of the service
    /// can write down.
    package var isWritable: Bool { (0...253_402_300_799_999).contains(milliseconds) }

    /// The same instant without its fraction of a second.
    package var wholeSeconds: Instant {
        Instant(milliseconds: milliseconds - (milliseconds % 1000 + 1000) % 1000)
    }
}

/// A length of time in whole seconds, as policies and signed messages state them.
package struct Seconds: Hashable, Comparable, Sendable {
    package let count: Int64

    package init(_ count: Int64) { self.count = count }

    package static func < (left: Self, right: Self) -> Bool { left.count < right.count }
}

extension Instant {
    /// RFC 3339 in UTC with `Z`: whole seconds when there is no fraction, else milliseconds.
    package var text: String {
        let fraction = (milliseconds % 1000 + 1000) % 1000
        let seconds = (milliseconds - fraction) / 1000
        let timeOfDay = (seconds % 86_400 + 86_400) % 86_400
        let (year, month, day) = Instant.civil(daysSinceEpoch: (seconds - timeOfDay) / 86_400)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let hour = padded(timeOfDay / 3600, 2)
        let minute = padded(timeOfDay / 60 % 60, 2)
        let second = padded(timeOfDay % 60, 2)
        let tail = fraction == 0 ? "" : ".\(padded(fraction, 3))"
        return "\(date)T\(hour):\(minute):\(second)\(tail)Z"
    }

    /// Reads RFC 3339 in UTC with `Z`, up to milliseconds; nothing looser.
    package init?(text: some StringProtocol) {
        let units = Array(text.utf8)
        guard units.count == 20 || (units.count == 24 && units[19] == UInt8(ascii: ".")),
            units.last == UInt8(ascii: "Z"), units[4] == UInt8(ascii: "-"),
            units[7] == UInt8(ascii: "-"), units[10] == UInt8(ascii: "T"),
            units[13] == UInt8(ascii: ":"), units[16] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for unit in units[range] {
                guard unit >= 48, unit <= 57 else { return nil }
                value = value * 10 + Int64(unit - 48)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            let fraction = units.count == 24 ? number(20..<23) : 0,
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Instant.daysSinceEpoch(year: year, month: month, day: day)
        guard Instant.civil(daysSinceEpoch: days) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second
        self.init(milliseconds: seconds * 1000 + fraction)
    }

    /// Gregorian date of a day number; eras of 400 years of 146,097 days, counted from 1 March.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSinceEpoch + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}

private func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
