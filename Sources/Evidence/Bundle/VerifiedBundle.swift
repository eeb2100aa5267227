import Countersign
package import Crypto

/// A bundle that proves something: only ``BundleVerifier`` makes one.
package struct VerifiedBundle: Sendable {
    package let checkpoint: TrustedCheckpoint
    /// What timestamp authorities prove: when the log's key had signed the checkpoint.
    package let stamps: [ProvenTimestamp]
    /// How many timestamps nobody has checked.
    package let uncheckedTimestamps: Int
    let records: [BundleRole: VerifiedRecord]
    let decision: VerifiedRecord

    /// The action.
    package var action: String { decision.leaf.action?.of ?? "" }
    /// What was decided: `approved`, `rejected` or `refused`.
    package var outcome: String { decision.role.rawValue }
    /// Whether the customer's signature was verified: neither when there is none, nor when it was erased.
    package var isSignatureVerified: Bool { decision.body?["signed"] == .bool(true) }

    /// The kinds of the later records of the action that could change what a reader concludes, and that this
    /// bundle does not hold. None of them is excluded by it, however new it is: a log proves that a record is
    /// there, and never that one is not.
    package var notExcluded: [EvidenceKind] {
        let later = BundleRole.allCases.filter { role in
            role.followsApproval || role.isDecision && decision.role != .approved
        }
        return later.filter { records[$0] == nil }.map(\.kind) + [.orderContradicted]
    }

    /// What is proved, in sentences for a person; the last says what is not.
    package var sentences: [String] {
        [log] + records.values.sorted { $0.position < $1.position }.map(sentence) + missing
    }

    private var log: String {
        let known = checkpoint.checkpoint
        var text = "The log \(known.origin) signed its checkpoint of size \(known.size)"
        for cosignature in checkpoint.cosignatures {
            text += ", cosigned by \(cosignature.witness) at \(cosignature.at.text)"
        }
        for stamp in stamps { text += ", timestamped by \(stamp.authority) at \(stamp.at.text)" }
        return text + "."
    }

    private func sentence(_ record: VerifiedRecord) -> String {
        let place = "Position \(record.position) of \(checkpoint.checkpoint.size): "
        guard let body = record.body ?? (record.role.isLeafAlone ? [:] : nil) else {
            return place + "“\(record.leaf.kind)” at \(record.leaf.at.text). "
                + "Its body was erased with its customer."
        }
        return place + what(record, body)
    }

    private func what(_ record: VerifiedRecord, _ body: JSON) -> String {
        let at = record.leaf.at.text
        switch record.role {
        case .enrolled:
            let kind = body["proof"]?["kind"]?.text ?? "key"
            return
                "the \(kind) \(record.leaf.credential?.of ?? "") was enrolled at \(at), before the "
                + "decision."
        case .policy: return policy(body, at)
        case .created: return "the action \(action) was created at \(at)."
        case .approved, .rejected, .refused: return decided(body, at)
        case .held: return "held from \(at) until \(body["hold"]?["until"]?.text ?? "")."
        case .released:
            return "released at \(at)" + (body["act_id"] == nil ? "." : " by people of the bank.")
        case .cancelled: return "cancelled at \(at): \(body["reason"]?.text ?? "")."
        case .executed:
            return
                "core banking executed it under \(body["reference"]?.text ?? ""), recorded at \(at)."
        case .notExecuted:
            return "core banking refused it: \(body["reason"]?.text ?? ""), recorded at \(at)."
        case .unknown: return "at \(at) it was not known whether core banking had executed it."
        case .erased:
            return
                "the customer was erased at \(at), and with the customer what these records said: "
                + "it was not checked, and cannot be."
        }
    }

    private func policy(_ body: JSON, _ at: String) -> String {
        var version = ""
        if case .integer(let number)? = body["version"] { version = String(number) }
        return "version \(version) of the policy was published at \(at), "
            + (body["act_id"]?.text.map { "under the act \($0) of people." }
                ?? "signed by nobody: by a program, or for development.")
            + " It decides so on what was recorded; it was decided again here."
    }

    private func decided(_ body: JSON, _ at: String) -> String {
        var text = "\(decision.role.rawValue) at \(at)"
        if isSignatureVerified {
            let kind = body["assertion"]?["kind"]?.text ?? "key"
            let customer =
                body.bytes("message").flatMap { SignedMessage(decoding: $0)?.customerID.text } ?? ""
            text +=
                ": the customer \(customer) signed with that \(kind), and the signature verifies"
        } else if body["approval"] == "assisted" {
            text +=
                " by officers under the act \(body["act_id"]?.text ?? ""), whose signatures are "
                + "not in this bundle"
        } else {
            text += ", without a signature"
        }
        guard let content = body.signedContent else { return text + "." }
        let members = content.members.sorted { $0.key < $1.key }
            .map { "\($0.key) “\($0.value)”" }.joined(separator: ", ")
        return text + ": \(content.kind.rawValue), \(members)."
    }

    private var missing: [String] {
        var sentences: [String] = []
        if stamps.isEmpty && uncheckedTimestamps == 0 {
            sentences.append("No timestamp is in this bundle.")
        }
        if uncheckedTimestamps > 0 {
            sentences.append(
                "Timestamps that were not checked, since no authority was named to believe: "
                    + "\(uncheckedTimestamps).")
        }
        let answers: [BundleRole] = [.executed, .notExecuted, .unknown]
        if decision.role == .approved, answers.allSatisfy({ records[$0] == nil }) {
            sentences.append("No answer of core banking is in this bundle.")
        }
        sentences.append(
            "Not excluded by this bundle are later records of this action of the kinds "
                + notExcluded.map(\.rawValue).joined(separator: ", ")
                + ": only a copy of the whole log shows that there are none.")
        return sentences
    }
}
