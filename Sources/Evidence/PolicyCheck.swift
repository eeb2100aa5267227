package import Countersign
import Crypto

/// Decides again what a policy has decided, on the inputs that were recorded.
///
/// The policy is the one that was published under the recorded digest; the action is what was signed.
package struct PolicyAudit {
    /// The published policies, by the SHA-256 of their documents.
    private var policies: [String: Policy] = [:]

    /// Knows of no policy.
    package init() {}

    /// Checks the next record, which was verified by itself: a policy's publication, or a decision of a
    /// policy whose publication was given before.
    ///
    /// - Parameters:
    ///   - kind: The word of the record's kind.
    ///   - leaf: Its leaf.
    ///   - body: Its opened body.
    /// - Throws: ``EvidenceFault/policy`` or ``EvidenceFault/verdict``.
    package mutating func check(
        _ kind: String, _ leaf: Bytes, _ body: JSON
    ) throws(EvidenceFault) {
        switch EvidenceKind(rawValue: kind) {
        case .policyPublished: try keep(body)
        case .actionApproved, .actionRefused: try decideAgain(leaf, body)
        default: break
        }
    }

    private mutating func keep(_ body: JSON) throws(EvidenceFault) {
        guard let bytes = body.bytes("document"), let document = JSON(recorded: bytes),
            case .integer(let version)? = body["version"]
        else { throw .policy }
        let digest = sha256(bytes)
        do throws(PolicyFault) {
            policies[digest.hex] = Policy(
                version: Int(version), digest: digest,
                rules: try PolicyRules(document: document))
        } catch { throw .policy }
    }

    private func decideAgain(
        _ leaf: Bytes, _ body: JSON
    ) throws(EvidenceFault) {
        // A customer who has a key stands in the way of officers, and then no policy is asked.
        if body.isOfOfficers, body["policy"] == nil, let leaf = EvidenceLeaf(decoding: leaf),
            leaf.kind == EvidenceKind.actionRefused.rawValue, leaf.policy == nil,
            leaf.outcome == ActRefusal.customerHasKey.recordedWord
        {
            return
        }
        guard let decided = body["policy"], let digest = decided["digest"]?.text,
            let policy = policies[digest],
            let leaf = EvidenceLeaf(decoding: leaf), leaf.policy?.hex == digest
        else { throw .policy }
        guard let content = body.signedContent,
            let state = decided["inputs"].flatMap({ RecordedState(recorded: $0) }),
            // Officers are not judged as a customer, nor a customer as they are.
            state.isAssisted == body.isOfOfficers
        else { throw .verdict }
        let verdict = policy.decide(content, state)
        guard JSON(recorded: verdict.json.encoded) == decided["verdict"],
            leaf.outcome == verdict.recordedOutcome
        else { throw .verdict }
    }
}

extension JSON {
    /// Whether the body of an approval is that of officers.
    fileprivate var isOfOfficers: Bool { self["approval"] == "assisted" }

    /// What the customer signed, or officers in the customer's place.
    fileprivate var signedContent: ActionContent? {
        guard isOfOfficers else {
            return bytes("message").flatMap { SignedMessage(decoding: $0)?.content }
        }
        return bytes("document").flatMap { JSON(recorded: $0) }
            .flatMap { AssistedApproval(recorded: $0)?.content }
    }
}

extension PolicyVerdict {
    /// The outcome in the leaf of a decision that came to this.
    fileprivate var recordedOutcome: String {
        switch self {
        case .allowed: Authorization.approved.rawValue
        case .refused(let refusal): refusal.word
        }
    }
}

extension RecordedState {
    /// Reads the inputs of a record's body: an object of texts.
    fileprivate init?(recorded json: JSON) {
        guard case .object(let members) = json else { return nil }
        var texts: [String: String] = [:]
        for member in members {
            guard let text = member.value.text else { return nil }
            texts[member.name] = text
        }
        self.init(members: texts)
    }
}
