import Countersign
import Crypto

/// What an audit has seen of the keys of people and of what they signed with them.
///
/// What an act says is read from its document, whose digest stands in every signed message; nothing that a
/// record says beside it is believed.
struct ActAudit {
    private struct Key: Equatable {
        let publicKey: String
        let person: String
        let client: String
        let role: String
        var isActive: Bool
    }

    /// An act as it was signed: every signature is of the same kind, role and document.
    private struct SignedAct {
        let kind: ActKind
        let role: PersonRole
        let document: Bytes
        /// The document, read.
        let content: JSON
        /// The keys by which it was signed, by whom; a person counts once.
        var signers: [String: String] = [:]
        /// Whose last signature of it was refused.
        var refused: Set<String> = []
        /// Whether it has taken effect or was withdrawn: it has no effect after that.
        var isEnded = false
        /// The rows of an import that were brought in.
        var imported: Set<String> = []
    }

    /// By the IDs of keys.
    private var keys: [String: Key] = [:]
    /// By the IDs of acts.
    private var acts: [String: SignedAct] = [:]
    /// Whose keys have counted, by role; since its founding was opened again, when it was.
    private var founders: [String: Set<String>] = [:]
    private var installation = RecordedInstallation.unstated

    /// Checks the next record, which is not older than the ones before it and was verified by itself.
    ///
    /// - Returns: What somebody has to look at although it is no fault.
    /// - Throws: ``EvidenceFault``.
    @discardableResult mutating func check(
        _ kind: String, _ body: JSON, of action: ID<Action>? = nil
    ) throws(EvidenceFault) -> EvidenceRemark? {
        switch EvidenceKind(rawValue: kind) {
        case .installationStated: try installation.read(body)
        case .personKeyRegistered: return try register(body)
        case .personKeyAdmitted: try admit(body)
        case .personFoundingReopened: try reopen(body)
        case .personKeyRevoked:
            if let id = body["key_id"]?.text { keys[id]?.isActive = false }
        case .policyProposed, .policyApproved, .actProposed, .actApproved: try sign(body)
        case .policyPublished: try checkPublication(body)
        case .actionApproved:
            // Most approvals are the customer's own.
            guard body["approval"] == "assisted" else { return nil }
            let act = try demandAct(behind: body, [.approveAction])
            guard act.document == body.bytes("document") else { throw .document }
        case .actWithdrawn:
            if let id = body["act_id"]?.text { acts[id]?.isEnded = true }
        case .actRefused: try noteRefused(body)
        case .actionRefused: try checkRefusal(body)
        case .actionReleased, .actionCancelled:
            // Most holds end in their time, or by one that needs nobody else.
            guard body["act_id"] != nil else { return nil }
            let ending: ActKind =
                kind == EvidenceKind.actionReleased.rawValue
                ? .releaseHold : .cancelHold
            let act = try demandAct(behind: body, [ending])
            guard let action, act.content["action_id"]?.text == action.text,
                act.content["hold"] == body["hold"]
            else { throw .document }
        case .payeeImported: try checkImport(body)
        default: break
        }
        return nil
    }

    // MARK: Keys

    private mutating func register(_ body: JSON) throws(EvidenceFault) -> EvidenceRemark? {
        guard let id = body["key_id"]?.text, let publicKey = body["public_key"]?.text,
            let person = body["person"]?.text, let client = body["client_id"]?.text,
            let role = body["role"]?.text
        else { throw .publicKey }
        let isActive = body["status"]?.text == RecordedPersonKey.Status.active.rawValue
        let others = keys.values.filter { $0.role == role && $0.isActive }.map(\.client)
        keys[id] = Key(
            publicKey: publicKey, person: person, client: client, role: role, isActive: isActive)
        guard isActive else { return nil }
        // A key that nobody admitted is of one of the first two people of its role, and that person's first.
        let before = founders[role] ?? []
        if before.count < 2, !before.contains(client) {
            founders[role] = before.union([client])
            return nil
        }
        // Once the place of a key that had ended was free again. Nobody can tell such a record from one of
        // somebody who made use of that; since installations state what they are, no program writes one.
        guard installation == .unstated, Set(others).count < 2, !others.contains(client) else {
            throw .people
        }
        founders[role] = before.union([client])
        return .foundedByRevocation
    }

    private mutating func admit(_ body: JSON) throws(EvidenceFault) {
        // Whose key it is has no voice in it.
        let owner = body["key_id"]?.text.flatMap { keys[$0]?.person }
        let act = try demandAct(behind: body, [.admitKey], without: owner)
        guard let id = act.content["key_id"]?.text, body["key_id"]?.text == id,
            let key = keys[id], let spki = Base64.decodeURL(key.publicKey),
            act.content["public_key_digest"]?.text == sha256(spki).hex,
            act.content["role"]?.text == key.role, act.role.rawValue == key.role,
            act.content["person"]?.text == key.person
        else { throw .document }
        keys[id]?.isActive = true
        founders[key.role, default: []].insert(key.client)
    }

    /// Who had an active key stays a founder. The record says who that was: a client that was removed has no
    /// part in it, and there is no record of that.
    private mutating func reopen(_ body: JSON) throws(EvidenceFault) {
        guard let role = body["role"]?.text, case .array(let named)? = body["people"] else {
            throw .people
        }
        let people = Set(named.compactMap(\.text))
        let known = Set(keys.values.filter { $0.role == role }.map(\.client))
        guard people.count == named.count, people.count < 2, people.isSubset(of: known) else {
            throw .people
        }
        founders[role] = people
    }

    // MARK: Acts

    private mutating func sign(_ body: JSON) throws(EvidenceFault) {
        guard let message = body.bytes("message").flatMap({ ActMessage(decoding: $0) }),
            let document = body.bytes("document"), let content = JSON(recorded: document)
        else { throw .message }
        guard let id = body["key_id"]?.text, let key = keys[id], key.isActive,
            key.publicKey == body["public_key"]?.text, key.person == message.person,
            key.role == message.role.rawValue, message.kind.isFor(message.role)
        else { throw .notEnrolled }
        let act =
            acts[message.actID.text]
            ?? SignedAct(
                kind: message.kind, role: message.role, document: document, content: content)
        guard act.kind == message.kind, act.role == message.role, act.document == document else {
            throw .document
        }
        guard !act.isEnded else { throw .people }
        acts[message.actID.text] = act
        acts[message.actID.text]?.signers[key.person] = id
    }

    /// A signature of somebody whose key was active, which counts for nothing else than this.
    private mutating func noteRefused(_ body: JSON) throws(EvidenceFault) {
        // Who was refused a proposal has signed nothing.
        guard body["signed"] == .bool(true) else { return }
        guard let message = body.bytes("message").flatMap({ ActMessage(decoding: $0) }),
            let key = keys[body["key_id"]?.text ?? ""], key.isActive,
            key.publicKey == body["public_key"]?.text, key.person == message.person,
            key.role == message.role.rawValue
        else { throw .notEnrolled }
        guard let act = acts[message.actID.text], act.kind == message.kind,
            act.role == message.role, sha256(act.document) == message.documentDigest
        else { throw .document }
        acts[message.actID.text]?.refused.insert(key.person)
    }

    /// Officers who were refused an approval have signed this very document: the last of them in vain.
    private func checkRefusal(_ body: JSON) throws(EvidenceFault) {
        guard body["approval"] == "assisted" else { return }
        guard let act = body["act_id"]?.text.flatMap({ acts[$0] }), act.kind == .approveAction,
            act.document == body.bytes("document")
        else { throw .document }
        let people = Set(act.signers.filter { keys[$0.value]?.isActive == true }.keys)
        guard !act.refused.isEmpty,
            people.union(act.refused).count >= act.kind.signaturesNeeded
        else { throw .people }
    }

    /// The act that a record names: of one of these kinds, signed by enough people whose keys are active, and
    /// neither withdrawn nor used before. It is used with this.
    private mutating func demandAct(
        behind body: JSON, _ kinds: [ActKind], without person: String? = nil
    ) throws(EvidenceFault) -> SignedAct {
        guard let id = body["act_id"]?.text, let act = acts[id], !act.isEnded else { throw .people }
        guard kinds.contains(act.kind) else { throw .document }
        let signers = act.signers.filter { $0.key != person && keys[$0.value]?.isActive == true }
        guard signers.count >= act.kind.signaturesNeeded else { throw .people }
        acts[id]?.isEnded = true
        return act
    }

    private mutating func checkPublication(_ body: JSON) throws(EvidenceFault) {
        // What may come into force without people, the audit of policies knows.
        guard body["act_id"] != nil else { return }
        let act = try demandAct(behind: body, [.publishPolicy, .tightenPolicy])
        guard let policy = act.content["policy"], policy.encoded == body.bytes("document"),
            case .integer(let base)? = act.content["base_version"],
            body["base_version"] == .integer(base), body["version"] == .integer(base + 1),
            let activeFrom = body["active_from"]?.text.flatMap({ Instant(text: $0) })
        else { throw .document }
        guard let stated = act.content["active_from"]?.text else { return }
        guard let earliest = Instant(text: stated), activeFrom >= earliest else { throw .document }
    }

    private mutating func checkImport(_ body: JSON) throws(EvidenceFault) {
        guard body["act_id"] != nil else {
            // In development nobody signs.
            guard installation != .production else { throw .people }
            return
        }
        guard let id = body["act_id"]?.text, let act = acts[id] else { throw .people }
        guard act.kind == .importPayees, let row = body["row_digest"]?.text,
            PayeeImportRequest.rows(recorded: act.content).contains(row)
        else { throw .document }
        // The key of one of them may have ended in the same moment.
        guard act.signers.count >= act.kind.signaturesNeeded, !act.isEnded,
            acts[id]?.imported.insert(row).inserted == true
        else { throw .people }
        // Records of before installations stated what they are have no salt: what their digest was made of,
        // nobody can say who does not have the prepared file.
        if installation == .unstated, body["salt"] == nil { return }
        guard let payee = PayeeRow(recorded: body), sha256(payee.bytes).hex == row else {
            throw .document
        }
    }
}
