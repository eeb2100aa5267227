/// How the bank made sure whom it was dealing with.
package struct IdentityCheck: Hashable, Sendable {
    /// What will do; the raw value is the word in the API and in what is signed.
    ///
    /// The list is closed. No code that is sent is in it, by SMS or otherwise: whoever has taken over a
    /// number or a mailbox has the code too.
    package enum Method: String, CaseIterable, Sendable {
        /// The customer stood before an officer, with a document.
        case inPerson = "in_person"
        /// The bank's identification by video.
        case video
        /// An officer of the customer's branch knows the customer.
        case knownToBranch = "known_to_branch"

        /// Reads a method's word.
        ///
        /// - Throws: `identity_check_method`, with what would do.
        package init(word: String) throws(InvalidValue) {
            guard let method = Self.allCases.first(where: { $0.rawValue == word }) else {
                let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
                throw InvalidValue(
                    "identity_check_method",
                    "This must be one of: \(words). A code that was sent, by SMS or otherwise, "
                        + "is no identity check.")
            }
            self = method
        }
    }

    package let method: Method
    /// Where the bank has it on file, such as the number of a document or a recording.
    package let reference: DisplayText

    /// Takes what was checked.
    package init(method: Method, reference: DisplayText) {
        self.method = method
        self.reference = reference
    }

    /// `{"method": …, "reference": …}`.
    package var json: JSON {
        ["method": .string(method.rawValue), "reference": .string(reference.text)]
    }

    /// Reads ``json``.
    ///
    /// - Throws: ``InvalidActMember``, the first that is wrong.
    package init(_ json: JSON?) throws(InvalidActMember) {
        try ActDocument.refuseOthers(than: ["method", "reference"], in: json ?? .null)
        guard let word = json?["method"]?.text else {
            throw InvalidActMember("/method", "text_needed", "A method is needed here.")
        }
        do throws(InvalidValue) { method = try Method(word: word) } catch {
            throw InvalidActMember("/method", error)
        }
        guard let text = json?["reference"]?.text else {
            throw InvalidActMember("/reference", "text_needed", "A reference is needed here.")
        }
        do throws(InvalidValue) { reference = try DisplayText(text, .reason) } catch {
            throw InvalidActMember("/reference", error)
        }
    }
}

/// What an officer sends to have an action approved.
package struct AssistedRequest: Hashable, Sendable {
    package let action: ID<Action>
    package let reason: DisplayText
    package let identityCheck: IdentityCheck

    /// Takes what was sent.
    package init(action: ID<Action>, reason: DisplayText, identityCheck: IdentityCheck) {
        self.action = action
        self.reason = reason
        self.identityCheck = identityCheck
    }

    /// `{"action_id": …, "identity_check": …, "reason": …}`.
    package var json: JSON {
        [
            "action_id": .string(action.text), "identity_check": identityCheck.json,
            "reason": .string(reason.text),
        ]
    }

    /// Reads ``json``.
    ///
    /// - Throws: ``InvalidActMember``, the first that is wrong.
    package init(_ json: JSON) throws(InvalidActMember) {
        try ActDocument.refuseOthers(than: ["action_id", "identity_check", "reason"], in: json)
        action = try ActDocument.action(in: json)
        reason = try ActDocument.reason(in: json)
        do throws(InvalidActMember) {
            identityCheck = try IdentityCheck(json["identity_check"])
        } catch {
            throw InvalidActMember("/identity_check" + error.pointer, error.value)
        }
    }
}

/// The document that two officers sign in the place of a customer who has no key: the whole action, as the
/// customer's own message would say it, and why and on what identity check they approve.
///
/// No member of an action ever changes, so what they sign is the action whatever else happens to it. How
/// long its chain of evidence is, is no part of it: each question that the bank asks the customer meanwhile
/// makes the chain longer, and the action no other. Source: `docs/signed-message.md`.
package struct AssistedApproval: Hashable, Sendable {
    /// What an officer has said.
    package let request: AssistedRequest
    package let customerID: CustomerID
    package let content: ActionContent
    package let externalID: String?
    /// For how long it is held at least: the policy's assisted hold.
    package let hold: Seconds

    /// Takes what an officer has said and the action as it is recorded.
    package init(_ request: AssistedRequest, of action: RecordedAction, hold: Seconds) {
        self.request = request
        customerID = action.customerID
        content = action.content
        externalID = action.externalID
        self.hold = hold
    }

    /// The document that is signed; its members are sorted by name, at every depth.
    package var document: JSON {
        [
            "action_id": .string(request.action.text),
            "assisted": ["hold_s": .integer(hold.count)],
            "customer_id": .string(customerID.text),
            "external_id": .optional(externalID),
            "identity_check": request.identityCheck.json,
            "kind": .string(content.kind.rawValue),
            "members": .object(
                content.members.sorted { $0.key < $1.key }
                    .map { .init($0.key, .string($0.value)) }),
            "reason": .string(request.reason.text),
        ]
    }

    /// Reads a document that says exactly this and nothing else; `nil` for everything else.
    ///
    /// - Parameter json: Read from the bytes that were signed, by a reader that sorts members by name.
    package init?(recorded json: JSON) {
        guard let action = json["action_id"]?.text.flatMap({ ID<Action>($0) }),
            let kind = json["kind"]?.text.flatMap(ActionKind.init(rawValue:)),
            case .integer(let seconds)? = json["assisted"]?["hold_s"],
            case .object(let written)? = json["members"],
            let customer = json["customer_id"]?.text, let reason = json["reason"]?.text
        else { return nil }
        var members: [String: String] = [:]
        for member in written { members[member.name] = member.value.text }
        do {
            request = AssistedRequest(
                action: action, reason: try DisplayText(reason, .actReason),
                identityCheck: try IdentityCheck(json["identity_check"]))
            customerID = try CustomerID(customer)
            content = try ActionContent(kind: kind, members: members)
        } catch {
            return nil
        }
        externalID = json["external_id"]?.text
        hold = Seconds(seconds)
        guard document.encoded == json.encoded else { return nil }
    }
}
