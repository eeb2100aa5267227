import Countersign

/// What records have told of each customer, against which the inputs of later decisions are compared: an
/// edited payee, hold or recovery in the database lets a policy allow what it forbids.
///
/// It knows the least that must have been looked at. The sums of limits and the customers' own limits are
/// not recomputed here.
struct InputAudit {
    private struct Customer {
        var recoveredAt: Instant?
        var contactHoldUntil: Instant?
        /// By account, from when each payee may be paid and counts as new no more; the earliest of the times
        /// at which it was confirmed since it was last removed.
        var payees: [JSON: Times] = [:]
    }

    /// Who was imported was a payee of the bank before, and has no times.
    private struct Times {
        let usableAt: Instant?
        let newUntil: Instant?
    }

    private var customers: [ID<Subject>: Customer] = [:]

    /// Checks the next record, which is not older than the ones before it and was verified by itself.
    ///
    /// - Throws: ``EvidenceFault/inputs``.
    mutating func check(_ record: StoredEvidence, _ body: JSON) throws(EvidenceFault) {
        let subject = record.subject
        switch EvidenceKind(rawValue: record.kind) {
        case .actionApproved, .actionRefused:
            if let inputs = body["policy"]?["inputs"] {
                try compare(inputs, customers[subject] ?? Customer(), to: body.payeeAccount)
            }
            if let until = body["policy"]?["verdict"]?.instant("contact_hold_until") {
                customers[subject, default: Customer()].contactHoldUntil = max(
                    until, customers[subject]?.contactHoldUntil ?? until)
            }
        case .recovery:
            customers[subject, default: Customer()].recoveredAt =
                EvidenceLeaf(decoding: record.leaf)?.at
        case .payeeAdded, .payeeImported: add(body, to: subject)
        case .payeeRemoved:
            if let account = body["payee"]?["account"] {
                customers[subject, default: Customer()].payees[account] = nil
            }
        default: break
        }
    }

    private mutating func add(_ body: JSON, to subject: ID<Subject>) {
        guard let account = body["payee"]?["account"] else { return }
        let times = Times(
            usableAt: body.instant("usable_at"), newUntil: body.instant("new_until"))
        let known = customers[subject]?.payees[account] ?? times
        func earlier(_ time: (Times) -> Instant?) -> Instant? {
            guard let first = time(known), let second = time(times) else { return nil }
            return min(first, second)
        }
        customers[subject, default: Customer()].payees[account] = Times(
            usableAt: earlier(\.usableAt), newUntil: earlier(\.newUntil))
    }

    private func compare(
        _ inputs: JSON, _ customer: Customer, to account: JSON?
    ) throws(EvidenceFault) {
        guard let at = inputs.instant("at") else { throw .inputs }
        if let recoveredAt = customer.recoveredAt {
            guard let seen = inputs.instant("recovered_at"), seen >= recoveredAt else {
                throw .inputs
            }
        }
        if let until = customer.contactHoldUntil, until > at {
            guard let seen = inputs.instant("contact_hold_until"), seen >= until else {
                throw .inputs
            }
        }
        // Only a transfer looks at a payee.
        guard let usableAt = inputs.instant("payee_usable_at") else { return }
        guard let account, let payee = customer.payees[account],
            payee.usableAt.map({ usableAt >= $0 }) ?? true,
            let newUntil = inputs.instant("payee_new_until"),
            payee.newUntil.map({ newUntil >= $0 }) ?? true
        else { throw .inputs }
    }
}

extension JSON {
    /// The account to which money goes by what was signed.
    fileprivate var payeeAccount: JSON? {
        guard case .transfer(let transfer)? = signedContent else { return nil }
        return transfer.payee.account.json
    }
}
