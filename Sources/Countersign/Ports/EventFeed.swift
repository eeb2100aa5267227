/// What the bank must tell its customers, in an order that never changes.
package protocol EventFeed: Sendable {
    /// The events that come after a place in the feed, first ones first.
    ///
    /// Whoever goes on from the last place of each page misses none: an event that is committed later
    /// gets a later place.
    ///
    /// - Parameters:
    ///   - place: Where to go on.
    ///   - limit: At most this many.
    /// - Returns: `nil` for a place that was never given.
    /// - Throws: ``StoreFailure``; asking again is safe.
    func events(
        after place: EventPlace, limit: Int
    ) async throws(StoreFailure) -> [PlacedEvent]?
}

/// A place in the feed: 0 before the first event, then 1, 2, 3 and so on.
package struct EventPlace: Hashable, Sendable {
    package let number: Int64

    /// Before the first event.
    package static let start = EventPlace(number: 0)

    package init(number: Int64) { self.number = number }

    /// Reads the text of a place: digits without a leading zero; `nil` for any other text.
    package init?(_ text: String) {
        guard !text.utf8.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(text), String(number) == text
        else { return nil }
        self.number = number
    }

    package var text: String { String(number) }
}

/// One event with its place.
package struct PlacedEvent: Sendable {
    package let place: EventPlace
    package let id: ID<Event>
    /// A word like `hold.placed`.
    package let kind: String
    package let at: Instant
    /// `nil` when the customer was erased.
    package let customerID: CustomerID?
    package let actionID: ID<Action>?
    package let credentialID: ID<Credential>?
    /// What the customer calls that credential; `nil` when there is none or it has no name.
    package let credentialLabel: String?
    package let payeeID: ID<Payee>?
    /// What else is to be told of this kind of event.
    package let document: JSON

    package init(
        place: EventPlace, id: ID<Event>, kind: String, at: Instant, customerID: CustomerID?,
        actionID: ID<Action>?, credentialID: ID<Credential>?, credentialLabel: String?,
        payeeID: ID<Payee>?, document: JSON
    ) {
        self.place = place
        self.id = id
        self.kind = kind
        self.at = at
        self.customerID = customerID
        self.actionID = actionID
        self.credentialID = credentialID
        self.credentialLabel = credentialLabel
        self.payeeID = payeeID
        self.document = document
    }
}

/// Some events of the feed that follow each other, as the API shows them and as they are sent.
package struct EventPage: Sendable {
    package let events: [PlacedEvent]
    /// Where the feed goes on.
    package let next: EventPlace

    /// - Parameters:
    ///   - events: In the order of the feed.
    ///   - after: The place after which they come.
    package init(_ events: [PlacedEvent], after: EventPlace) {
        self.events = events
        next = events.last?.place ?? after
    }

    /// Source: `docs/api.md` §11.
    package var json: JSON {
        ["events": .array(events.map(\.json)), "next_cursor": .string(next.text)]
    }
}

extension PlacedEvent {
    fileprivate var json: JSON {
        [
            "cursor": .string(place.text),
            "id": .string(id.text),
            "kind": .string(kind),
            "at": .string(at.text),
            "customer_id": .optional(customerID?.text),
            "action_id": .optional(actionID?.text),
            "credential_id": .optional(credentialID?.text),
            "credential_label": .optional(credentialLabel),
            "payee_id": .optional(payeeID?.text),
            "details": document,
        ]
    }
}
