/// An action whose hold people want to end, as it stands.
package struct HeldAction: Sendable {
    package let id: ID<Action>
    package let subject: ID<Subject>
    /// The customer's data key, wrapped.
    package let wrappedKey: Bytes
    /// Where the action's chain of evidence stands.
    package let head: ChainHead
    /// `nil` when the action is not held.
    package let hold: Hold?
    /// The rule by which it would be cancelled if its hold ended now; `nil` when it would be released.
    package let againstRelease: String?

    /// Takes what was read.
    package init(
        id: ID<Action>, subject: ID<Subject>, wrappedKey: Bytes, head: ChainHead, hold: Hold?,
        againstRelease: String?
    ) {
        self.id = id
        self.subject = subject
        self.wrappedKey = wrappedKey
        self.head = head
        self.hold = hold
        self.againstRelease = againstRelease
    }
}

/// What ends a hold with the last signature of its act.
package struct HoldEnding: Sendable {
    package let held: HeldAction
    package let hold: Hold
    package let isCancel: Bool
    package let reason: String
    /// Those who have signed before, whose signatures count.
    package let earlier: [Person]
}

/// The document of an act that ends a hold: which action, why, and as what it was held when the act was
/// proposed. An action that has changed since is another one than was signed.
package struct HoldRequest: Sendable {
    package let action: ID<Action>
    package let reason: DisplayText

    /// Reads what was sent: `{"action_id": …, "reason": …}`.
    ///
    /// - Throws: ``InvalidActMember``, the first that is wrong.
    package init(_ json: JSON) throws(InvalidActMember) {
        try ActDocument.refuseOthers(than: ["action_id", "reason"], in: json)
        action = try ActDocument.action(in: json)
        reason = try ActDocument.reason(in: json)
    }

    /// The document that is signed.
    package func document(of held: HeldAction, _ hold: Hold) -> JSON {
        [
            "action_id": .string(held.id.text), "hold": hold.json,
            "reason": .string(reason.text), "seq": .integer(Int64(held.head.length)),
        ]
    }
}

extension Acts {
    /// The document of a new act about a hold.
    func drawHold(
        _ command: ProposeActCommand
    ) async throws(StoreFailure) -> Result<JSON, ActRefusal> {
        let request: HoldRequest
        do throws(InvalidActMember) { request = try HoldRequest(command.document) } catch {
            return .failure(.invalid(error))
        }
        guard let held = try await store.heldAction(request.action) else {
            return .failure(.notFound)
        }
        return endable(held, as: command.kind).map { request.document(of: held, $0) }
    }

    /// What a recorded act about a hold would bring about now.
    func ending(of context: ActContext) -> Result<HoldEnding, ActRefusal> {
        guard let held = context.held, let reason = context.act.content["reason"]?.text else {
            return .failure(.notFound)
        }
        return endable(held, as: context.act.kind).flatMap { hold in
            guard hold.isWritten(in: context.act.content["hold"]),
                context.act.content["seq"] == .integer(Int64(held.head.length))
            else { return .failure(.holdChanged) }
            return .success(
                HoldEnding(
                    held: held, hold: hold, isCancel: context.act.kind == .cancelHold,
                    reason: reason,
                    earlier: context.act.signatures.filter(\.counts).map(\.person)))
        }
    }

    /// The hold, when an act of this kind may end it. To stop an action is never against a rule.
    private func endable(_ held: HeldAction, as kind: ActKind) -> Result<Hold, ActRefusal> {
        guard let hold = held.hold else { return .failure(.notHeld) }
        if kind == .releaseHold, let rule = held.againstRelease {
            return .failure(.notReleasable(rule: rule))
        }
        return .success(hold)
    }
}

extension Hold {
    /// Whether JSON says this hold, in whatever order.
    package func isWritten(in json: JSON?) -> Bool {
        guard case .object(let written)? = json, case .object(let members) = self.json else {
            return false
        }
        return Set(written) == Set(members) && written.count == members.count
    }
}
