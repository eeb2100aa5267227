import Countersign

/// What an audit has seen of approvals that core banking has not answered: nothing is executed before it was
/// approved, nor while it is held, and a hold ends when and as it was decided.
struct HoldAudit {
    /// An approval whose order is still open; `nil` is one without a hold, or with an ended one.
    private var open: [ID<Action>: Hold?] = [:]

    /// Checks the next record, which is not older than the ones before it and was verified by itself.
    ///
    /// - Throws: ``EvidenceFault/hold``.
    mutating func check(_ record: StoredEvidence, _ body: JSON) throws(EvidenceFault) {
        guard let action = record.action else { return }
        try check(record.kind, of: action, record.leaf, body)
    }

    /// As above, for a record that is not as the database has it.
    mutating func check(
        _ kind: String, of action: ID<Action>, _ leaf: Bytes, _ body: JSON
    ) throws(EvidenceFault) {
        switch EvidenceKind(rawValue: kind) {
        case .actionApproved: open[action] = .some(try hold(body["policy"]?["verdict"]?["hold"]))
        case .actionReleased: try release(action, leaf, body)
        // Core banking may answer after it was given up.
        case .orderUnknown: try demandReady(action)
        case .orderExecuted, .orderRefused:
            try demandReady(action)
            open[action] = nil
        case .actionCancelled: open[action] = nil
        default: break
        }
    }

    private mutating func release(
        _ action: ID<Action>, _ leaf: Bytes, _ body: JSON
    ) throws(EvidenceFault) {
        guard case .some(.some(let decided)) = open[action] else { throw .hold }
        // A release that should not have been is one fault, and what follows from it no other.
        open[action] = .some(nil)
        guard try hold(body["hold"]) == decided else { throw .hold }
        // Two people may end it early, and whether they were two the audit of acts asks.
        if body["act_id"] == nil {
            guard let leaf = EvidenceLeaf(decoding: leaf), leaf.at >= decided.until,
                decided.end == .release
            else { throw .hold }
        }
    }

    private func demandReady(_ action: ID<Action>) throws(EvidenceFault) {
        guard case .some(.none) = open[action] else { throw .hold }
    }

    func hold(_ json: JSON?) throws(EvidenceFault) -> Hold? {
        guard let json, json != .null else { return nil }
        // Holds of before this was recorded all end in a release.
        guard let until = json["until"]?.text.flatMap({ Instant(text: $0) }),
            let rule = json["rule"]?.text.flatMap(Hold.Rule.init(rawValue:)),
            let end = Hold.End(rawValue: json["at_end"]?.text ?? Hold.End.release.rawValue)
        else { throw .hold }
        return Hold(until: until, rule: rule, end: end)
    }
}
