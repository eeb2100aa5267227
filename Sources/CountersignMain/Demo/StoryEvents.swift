import Countersign

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
        func received() -> [JSON] { ReceivedEvents.all(inJournal: bank.home.journal) }
        for _ in 0..<200 where received().count < events.count {
            try await Task.sleep(for: .milliseconds(50))
        }
        let books = received()
        check(
            "core banking's books hold the same, each once", books == events,
            expected: "\(events.count) events", came: "\(books.count)")
    }
}
