/// What core banking did with an order, once and for all.
package enum CoreReceipt: Hashable, Sendable {
    case executed(reference: ReceiptText)
    case refused(reason: ReceiptText)

    /// The word of it; the raw values are those of the API and of the database.
    package enum Status: String, CaseIterable, Sendable {
        case executed, refused
    }

    package var status: Status {
        switch self {
        case .executed: .executed
        case .refused: .refused
        }
    }

    /// The reference under which it was booked.
    package var reference: String? {
        if case .executed(let reference) = self { reference.text } else { nil }
    }

    /// Why it was refused.
    package var reason: String? {
        if case .refused(let reason) = self { reason.text } else { nil }
    }
}

/// A reference or a reason that can be stored and shown: neither empty nor endless, and without control
/// characters.
package struct ReceiptText: Hashable, Sendable {
    package let text: String

    /// In Unicode scalars.
    package static let lengths = 1...512

    /// - Throws: `receipt_text`.
    package init(_ text: String) throws(InvalidValue) {
        guard Self.lengths.contains(text.unicodeScalars.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw InvalidValue(
                "receipt_text", "A text of 1 to 512 characters, none a control, is needed.")
        }
        self.text = text
    }
}

/// A receipt as core banking handed it in.
package struct SubmittedReceipt: Sendable {
    package let action: ID<Action>
    package let lease: ID<Lease>
    package let receipt: CoreReceipt
    /// The bytes that came; kept in evidence.
    package let raw: Bytes

    package init(action: ID<Action>, lease: ID<Lease>, receipt: CoreReceipt, raw: Bytes) {
        self.action = action
        self.lease = lease
        self.receipt = receipt
        self.raw = raw
    }
}

/// A receipt as it is recorded.
package struct RecordedReceipt: Hashable, Sendable {
    package let action: ID<Action>
    package let receipt: CoreReceipt
    package let at: Instant

    package init(action: ID<Action>, receipt: CoreReceipt, at: Instant) {
        self.action = action
        self.receipt = receipt
        self.at = at
    }
}

/// What came of a receipt.
package enum ReceiptOutcome: Sendable {
    /// It is what is recorded, from now on or since before.
    case recorded(RecordedReceipt)
    /// Another one is recorded, and stays; that this one came is evidence.
    case contradicts(RecordedReceipt)
    /// Another lease of the order is younger, or it is not leased.
    case leaseLost
    /// There is no order of such an action.
    case notFound
}
