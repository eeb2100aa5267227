import Countersign
import Crypto
import Foundation

/// The chapter about what the bank is told, to tell its customers.
extension Story {
    mutating func receiveEvents() async throws {
        try await step("The bank has been sent every event, in order")
        asked("GET /v1/events?limit=100")
        let page = try await bank.backend.api.get("/v1/events?limit=100")
        guard case .array(let events)? = page.json["events"] else {
            check("the feed can be read", page, 200)
            return
        }
        came(page, "\(events.count) events")
        let kinds = events.compactMap { $0["kind"]?.text }
        say(Set(kinds).sorted().joined(separator: ", "))
        for _ in 0..<200 where receivedEvents().count < events.count {
            try await Task.sleep(for: .milliseconds(50))
        }
        let received = receivedEvents()
        check(
            "core banking's books hold the same, each once", received == events,
            expected: "\(events.count) events", came: "\(received.count)")
    }

    /// The events in core banking's books, in their order.
    private func receivedEvents() -> [JSON] {
        let journal = FileManager.default.contents(atPath: bank.home.journal) ?? Data()
        return journal.split(separator: UInt8(ascii: "\n")).flatMap { line -> [JSON] in
            guard case .array(let events)? = SignedJSON.decode(Bytes(line))?["events"] else {
                return []
            }
            return events
        }
    }
}
