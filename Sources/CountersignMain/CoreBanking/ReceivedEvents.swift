import Countersign
import Crypto
import Foundation

/// Events of the feed as they came: well-formed, in order and without a gap.
struct ReceivedEvents: Sendable {
    private let events: [(place: EventPlace, json: JSON)]
    let first: EventPlace
    let last: EventPlace

    /// Reads the body of a batch; `nil` when it is not one.
    init?(batch json: JSON) {
        guard let events = json["events"], let received = ReceivedEvents(list: events),
            json["next_cursor"] == .string(received.last.text)
        else { return nil }
        self = received
    }

    /// Reads a list of events, as the journal keeps it.
    init?(list json: JSON) {
        guard case .array(let values) = json else { return nil }
        var events: [(place: EventPlace, json: JSON)] = []
        for value in values {
            guard let place = value["cursor"]?.text.flatMap(EventPlace.init),
                value["id"]?.text != nil, value["kind"]?.text != nil,
                events.last.map({ $0.place.number + 1 == place.number }) ?? (place.number > 0)
            else { return nil }
            events.append((place, value))
        }
        guard let first = events.first?.place, let last = events.last?.place else { return nil }
        self.events = events
        self.first = first
        self.last = last
    }

    /// The events in core banking's books, in the order in which they came.
    ///
    /// - Parameter path: The journal; one that is not there holds nothing.
    /// - Returns: The events as they were sent.
    static func all(inJournal path: String) -> [JSON] {
        let journal = FileManager.default.contents(atPath: path) ?? Data()
        return journal.split(separator: UInt8(ascii: "\n")).flatMap { line -> [JSON] in
            guard case .array(let events)? = SignedJSON.decode(Bytes(line))?["events"] else {
                return []
            }
            return events
        }
    }

    /// The name of this batch, the same whenever it is sent.
    var id: String { "\(first.text)-\(last.text)" }

    /// Those that come after a place.
    func after(_ place: EventPlace) -> [JSON] {
        events.filter { $0.place.number > place.number }.map(\.json)
    }
}
