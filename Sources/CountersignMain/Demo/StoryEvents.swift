import Countersign

/// The chapter about what the bank is told, to tell its customers.
extension Story {
    mutating func receiveEvents() async throws {
        try await step("The bank has been sent every event, in order")
        asked("GET /v1/events?limit=100")
        var (page, events) = try await feed()
        func received() -> [JSON] { ReceivedEvents.all(inJournal: bank.home.journal) }
        // An event comes when every transaction that began before it has ended, and is sent soon after.
        for _ in 0..<200 where received() != events {
            try await Task.sleep(for: .milliseconds(50))
            (page, events) = try await feed()
        }
        came(page, "\(events.count) events")
        say(Set(events.compactMap { $0["kind"]?.text }).sorted().joined(separator: ", "))
        let books = received()
        check(
            "core banking's books hold the same, each once", books == events,
            expected: "\(events.count) events", came: "\(books.count)")
    }

    private func feed() async throws -> (APIClient.Answer, [JSON]) {
        let page = try await bank.backend.api.get("/v1/events?limit=100")
        guard case .array(let events)? = page.json["events"] else {
            throw CommandFailure("the feed cannot be read: \(page.status)")
        }
        return (page, events)
    }
}
