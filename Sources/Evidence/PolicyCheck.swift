package import Countersign
import Crypto

/// Decides again what a policy has decided, on the inputs that were recorded.
///
/// The policy is the one that was in force at the time of the inputs, of those whose publication was recorded
/// before; the action is what was signed. Who published it is for the audit of acts.
package struct PolicyAudit {
    /// A version of the policy and from when it holds.
    private struct Publication {
        let policy: Policy
        let activeFrom: Instant
    }

    /// By version.
    private var publications: [Int: Publication] = [:]
    private var installation = RecordedInstallation.unstated
    private let migrated: [Int: Digest]

    /// The inputs of a decision are at most so old when it is recorded, in milliseconds; the database has the
    /// same number, `decision_age_max`.
    private static let ageMax: Int64 = 10_000

    /// Knows of no publication.
    ///
    /// - Parameter migrated: The policies that nobody has to sign, since they came with a migration: the
    ///   digests of their documents by version.
    package init(migrated: [Int: Digest]) { self.migrated = migrated }

    /// Checks the next record, which was verified by itself: a policy's publication, or a decision of a
    /// policy whose publication was given before.
    ///
    /// - Parameters:
    ///   - kind: The word of the record's kind.
    ///   - leaf: Its leaf.
    ///   - body: Its opened body.
    /// - Throws: ``EvidenceFault/publication``, ``EvidenceFault/policy``, ``EvidenceFault/policyInForce``,
    ///   ``EvidenceFault/verdict`` or ``EvidenceFault/installation``.
    package mutating func check(
        _ kind: String, _ leaf: Bytes, _ body: JSON
    ) throws(EvidenceFault) {
        switch EvidenceKind(rawValue: kind) {
        case .installationStated: try installation.read(body)
        case .policyPublished: try keep(leaf, body)
        case .actionApproved, .actionRefused: try decideAgain(leaf, body)
        default: break
        }
    }

    private mutating func keep(_ leaf: Bytes, _ body: JSON) throws(EvidenceFault) {
        guard let leaf = EvidenceLeaf(decoding: leaf), let bytes = body.bytes("document"),
            let document = JSON(recorded: bytes),
            case .integer(let number)? = body["version"]
        else { throw .policy }
        let version = Int(number)
        let digest = sha256(bytes)
        guard leaf.policy == digest else { throw .policy }
        let isSigned = body["act_id"] != nil
        guard isSigned || installation == .development || migrated[version] == digest else {
            throw .publication
        }
        // A record of before publications told it, of a migration: it holds from there on.
        let activeFrom = body["active_from"] == nil ? leaf.at : body.instant("active_from")
        // What people publish was never in force before they did.
        guard let activeFrom, !isSigned || activeFrom >= leaf.at else { throw .publication }
        let policy: Policy
        do throws(PolicyFault) {
            policy = Policy(
                version: version, digest: digest, rules: try PolicyRules(document: document))
        } catch { throw .policy }
        // A version is one document. The record may be there twice: two migrations ran at once.
        if let before = publications[version], before.policy.digest != digest {
            throw .publication
        }
        if publications[version] == nil {
            publications[version] = Publication(policy: policy, activeFrom: activeFrom)
        }
    }

    /// The newest version whose time has come.
    private func policy(at instant: Instant) -> Policy? {
        publications.values.filter { $0.activeFrom <= instant }
            .max { $0.policy.version < $1.policy.version }?.policy
    }

    private func decideAgain(_ leaf: Bytes, _ body: JSON) throws(EvidenceFault) {
        // A customer who has a key stands in the way of officers, and then no policy is asked.
        if body.isOfOfficers, body["policy"] == nil, let leaf = EvidenceLeaf(decoding: leaf),
            leaf.kind == EvidenceKind.actionRefused.rawValue, leaf.policy == nil,
            leaf.outcome == ActRefusal.customerHasKey.recordedWord
        {
            return
        }
        guard let decided = body["policy"], let digest = decided["digest"]?.text,
            case .integer(let version)? = decided["version"],
            let named = publications[Int(version)], named.policy.digest.hex == digest,
            let leaf = EvidenceLeaf(decoding: leaf), leaf.policy?.hex == digest
        else { throw .policy }
        guard let content = body.signedContent,
            let state = decided["inputs"].flatMap({ RecordedState(recorded: $0) }),
            0...Self.ageMax ~= leaf.at.milliseconds - state.at.milliseconds,
            // Officers are not judged as a customer, nor a customer as they are.
            state.isAssisted == body.isOfOfficers
        else { throw .verdict }
        guard let policy = policy(at: state.at), policy.version == Int(version) else {
            throw .policyInForce
        }
        let verdict = policy.decide(content, state)
        // What is refused is never recorded as approved, under whatever outcome.
        let isApproval = leaf.kind == EvidenceKind.actionApproved.rawValue
        guard JSON(recorded: verdict.json.encoded) == decided["verdict"],
            leaf.outcome == verdict.recordedOutcome,
            isApproval == (leaf.outcome == Authorization.approved.rawValue)
        else { throw .verdict }
    }
}

extension JSON {
    /// Whether the body of an approval is that of officers.
    fileprivate var isOfOfficers: Bool { self["approval"] == "assisted" }

    /// What the customer signed, or officers in the customer's place.
    var signedContent: ActionContent? {
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
