/// How actions, challenges and decisions are shown in answers. Source: `docs/api.md`.
extension RecordedAction {
    /// The member `action` of every answer.
    package var json: JSON {
        [
            "id": .string(id.text),
            "customer_id": .string(customerID.text),
            "kind": .string(content.kind.rawValue),
            content.kind.rawValue: content.json,
            "external_id": .optional(externalID),
            "authorization": .string(authorization.rawValue),
            "execution": .string(execution.rawValue),
            "hold": hold?.json ?? .null,
            "policy_version": .integer(Int64(policyVersion)),
            "created_at": .string(createdAt.text),
            "expires_at": .string(expiresAt.text),
        ]
    }
}

extension ActionContent {
    /// The member named like the kind, as stored: what was normalised is shown normalised.
    package var json: JSON {
        switch self {
        case .transfer(let transfer):
            [
                "amount": .string(transfer.amount.decimal),
                "currency": .string(transfer.amount.currency.code),
                "debtor_account": transfer.debtorAccount.json,
                "payee": transfer.payee.json,
                "reference": .string(transfer.reference.text),
                "end_to_end_id": .string(transfer.endToEndID.text),
            ]
        case .newPayee(let newPayee):
            ["payee": newPayee.payee.json, "alias": .string(newPayee.alias.text)]
        case .contactChange(let change):
            [
                "channel": .string(change.newValue.channel),
                "old_value_digest": .string(change.oldValueDigest?.hex ?? ""),
                "new_value": .string(change.newValue.text),
            ]
        case .limitChange(let change):
            [
                "limit_name": .string(change.limit.rawValue),
                "amount": .string(change.amount.decimal),
                "currency": .string(change.amount.currency.code),
            ]
        }
    }
}

extension PayeeIdentity {
    /// `{"name": …, "account": {…}}`.
    package var json: JSON { ["name": .string(name.text), "account": account.json] }
}

extension Hold {
    /// `{"until": …, "rule": …, "at_end": …}`.
    package var json: JSON {
        [
            "until": .string(until.text), "rule": .string(rule.rawValue),
            "at_end": .string(end.rawValue),
        ]
    }
}

extension Challenge {
    /// The member `challenge` of an answer.
    ///
    /// - Parameters:
    ///   - action: The action that it is for.
    ///   - attemptsMax: How many attempts the policy allows for one challenge.
    ///   - webauthn: The options for a passkey by decision; `nil` when no passkey could answer.
    ///   - payment: What a page asks the browser's payment dialog; `nil` when it could not answer.
    /// - Returns: An object with both messages in base64url.
    package func json(
        action: ID<Action>, attemptsMax: Int, webauthn: JSON?, payment: JSON?
    ) -> JSON {
        var members: [JSON.Member] = [
            .init("id", .string(id.text)),
            .init("action_id", .string(action.text)),
            .init("expires_at", .string(expiresAt.text)),
            .init("attempts_left", .integer(Int64(max(0, attemptsMax - failures)))),
            .init(
                "messages",
                [
                    "approve": .string(Base64.encodeURL(approveMessage)),
                    "reject": .string(Base64.encodeURL(rejectMessage)),
                ]),
        ]
        if let webauthn { members.append(.init("webauthn", webauthn)) }
        if let payment { members.append(.init("payment", payment)) }
        return .object(members)
    }
}

extension RecordedDecision {
    /// The whole answer to a decision.
    package func json(promise: PromiseMaker) -> JSON {
        [
            "action": action.json,
            "evidence_id": .string(evidenceID.text),
            "leaf_hash": .string(leafHash.hex),
            "promise": .optional(promise(evidenceID, leafHash)),
        ]
    }
}
