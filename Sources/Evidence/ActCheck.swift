import Countersign
import Crypto

/// Which records hold the signature of a person, and of which part in an act.
enum ActCheck {
    static func stage(of kind: String, _ body: JSON) -> ActStage? {
        switch EvidenceKind(rawValue: kind) {
        case .policyProposed, .actProposed: .propose
        case .policyApproved, .actApproved: .approve
        // The last signature; nobody has signed what was refused when it was proposed.
        case .actRefused: body["signed"] == .bool(true) ? .approve : nil
        default: nil
        }
    }
}

extension EvidenceVerifier {
    /// Checks again that a person signed the document of an act with a passkey.
    ///
    /// - Throws: ``EvidenceFault``.
    func verifyAct(_ body: JSON, _ stage: ActStage) throws(EvidenceFault) {
        guard let bytes = body.bytes("message"), let message = ActMessage(decoding: bytes),
            message.stage == stage, message.actID.text == body["act_id"]?.text,
            message.person == body["person"]?.text, message.kind.rawValue == body["kind"]?.text
        else { throw .message }
        guard let document = body.bytes("document"), sha256(document) == message.documentDigest
        else { throw .document }
        let key: PublicKey
        do throws(KeyError) {
            key = try PublicKey(spki: body.bytes("public_key") ?? [])
        } catch { throw .publicKey }
        guard let assertion = body["assertion"], let signature = assertion.bytes("signature")
        else { throw .signature }
        let clientData = try clientData(of: assertion, "webauthn.get", over: bytes)
        guard let authenticatorData = assertion.bytes("authenticator_data"),
            authenticatorData.count >= 37,
            Bytes(authenticatorData[..<32]) == sha256(Bytes(message.audience.utf8)).bytes,
            authenticatorData[32] & Self.userFlags == Self.userFlags
        else { throw .authenticator }
        guard
            key.isValid(
                signature: signature, for: authenticatorData + sha256(clientData).bytes)
        else { throw .signature }
    }
}

extension EvidenceVerifier {
    /// Checks that an approval by officers, or one that they were refused, holds the document that it says
    /// they signed, and that it is about this action. That they signed it, an audit finds in the evidence of
    /// the act.
    ///
    /// - Throws: ``EvidenceFault``.
    func verifyAssisted(_ body: JSON, of leaf: EvidenceLeaf) throws(EvidenceFault) {
        let kinds = [EvidenceKind.actionApproved, .actionRefused].map(\.rawValue)
        guard kinds.contains(leaf.kind), body["act_id"]?.text != nil else { throw .unsigned }
        guard let document = body.bytes("document"),
            sha256(document).hex == body["document_digest"]?.text
        else { throw .document }
        guard let json = SignedJSON.decode(document), json.encoded == document,
            let approval = AssistedApproval(recorded: json),
            approval.request.action.text == leaf.action?.of
        else { throw .message }
    }
}

/// What an audit has seen of the keys of people and of what they signed with them.
struct ActAudit {
    private struct Key: Equatable {
        let publicKey: String
        let person: String
        let client: String
        let role: String
        var isActive: Bool
    }

    /// By the IDs of keys.
    private var keys: [String: Key] = [:]
    /// The keys by which each act was signed, and by whom; a person counts once.
    private var signers: [String: [String: String]] = [:]
    /// What each act is and says, as it was signed: its kind and the digest of its document.
    private var signed: [String: Set<String>] = [:]
    /// Whose last signature of each act was refused.
    private var refused: [String: Set<String>] = [:]
    /// The digests of the rows that may be imported under each act.
    private var rows: [String: Set<String>] = [:]
    /// Whose keys have counted, by role; since its founding was opened again, when it was.
    private var founders: [String: Set<String>] = [:]

    /// Checks the next record, which is not older than the ones before it and was verified by itself.
    ///
    /// - Throws: ``EvidenceFault``.
    mutating func check(_ kind: String, _ body: JSON) throws(EvidenceFault) {
        switch EvidenceKind(rawValue: kind) {
        case .personKeyRegistered:
            guard let id = body["key_id"]?.text, let publicKey = body["public_key"]?.text,
                let person = body["person"]?.text, let client = body["client_id"]?.text,
                let role = body["role"]?.text
            else { throw .publicKey }
            let isActive = body["status"]?.text == RecordedPersonKey.Status.active.rawValue
            keys[id] = Key(
                publicKey: publicKey, person: person, client: client, role: role,
                isActive: isActive)
            if isActive { try found(role, by: client) }
        case .personKeyAdmitted:
            try demandPeople(behind: body, .admitKey)
            if let id = body["key_id"]?.text, let key = keys[id] {
                keys[id]?.isActive = true
                founders[key.role, default: []].insert(key.client)
            }
        case .personFoundingReopened: try reopen(body)
        case .personKeyRevoked:
            if let id = body["key_id"]?.text { keys[id]?.isActive = false }
        case .policyProposed, .policyApproved, .actProposed, .actApproved:
            guard let act = body["act_id"]?.text, let id = body["key_id"]?.text,
                let key = keys[id], key.isActive, key.publicKey == body["public_key"]?.text,
                key.person == body["person"]?.text
            else { throw .notEnrolled }
            signers[act, default: [:]][key.person] = id
            if let message = body.bytes("message").flatMap({ ActMessage(decoding: $0) }) {
                signed[act, default: []].insert(
                    Self.meaning(message.kind, message.documentDigest.hex))
            }
            rows[act] = Set(PayeeImportRequest.rows(recorded: body["content"] ?? .null))
        case .policyPublished:
            // What came with a migration was signed by nobody.
            guard body["act_id"] != nil else { return }
            let kind = body["kind"]?.text.flatMap(ActKind.init(rawValue:))
            try demandPeople(behind: body, kind ?? .publishPolicy)
        case .actionApproved:
            // Most approvals are the customer's own.
            guard body["approval"] == "assisted" else { return }
            // Nothing but this document, and for nothing else than to approve it.
            let kind = ActKind.approveAction
            let meaning = Self.meaning(kind, body["document_digest"]?.text ?? "")
            guard signed[body["act_id"]?.text ?? ""] == [meaning] else { throw .document }
            try demandPeople(behind: body, kind)
        case .actRefused: try noteRefused(body)
        case .actionRefused: try demandRefused(body)
        case .actionReleased, .actionCancelled:
            // Most holds end in their time, or by one that needs nobody else.
            guard body["act_id"] != nil else { return }
            try demandPeople(behind: body, .releaseHold)
        case .payeeImported:
            // In development nobody signs.
            guard let act = body["act_id"]?.text else { return }
            guard let row = body["row_digest"]?.text, rows[act]?.contains(row) == true else {
                throw .document
            }
            // The key of one of them may have ended in the same moment.
            guard signers[act, default: [:]].count >= ActKind.importPayees.signaturesNeeded else {
                throw .people
            }
        default: break
        }
    }

    private static func meaning(_ kind: ActKind, _ digest: String) -> String {
        "\(kind.rawValue) \(digest)"
    }

    /// A key that nobody admitted is of one of the first two people of its role, and that person's first.
    private mutating func found(_ role: String, by client: String) throws(EvidenceFault) {
        let before = founders[role] ?? []
        guard before.count < 2, !before.contains(client) else { throw .people }
        founders[role] = before.union([client])
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

    /// A signature of somebody whose key was active, which counts for nothing else than this.
    private mutating func noteRefused(_ body: JSON) throws(EvidenceFault) {
        guard body["signed"] == .bool(true) else { return }
        guard let act = body["act_id"]?.text, let key = keys[body["key_id"]?.text ?? ""],
            key.isActive, key.publicKey == body["public_key"]?.text,
            key.person == body["person"]?.text
        else { throw .notEnrolled }
        guard let message = body.bytes("message").flatMap({ ActMessage(decoding: $0) }),
            signed[act] == [Self.meaning(message.kind, message.documentDigest.hex)]
        else { throw .document }
        refused[act, default: []].insert(key.person)
    }

    /// Officers who were refused an approval have signed this very document: the last of them in vain.
    private func demandRefused(_ body: JSON) throws(EvidenceFault) {
        guard body["approval"] == "assisted" else { return }
        let act = body["act_id"]?.text ?? ""
        let meaning = Self.meaning(.approveAction, body["document_digest"]?.text ?? "")
        guard signed[act] == [meaning] else { throw .document }
        let people = Set((signers[act] ?? [:]).filter { keys[$0.value]?.isActive == true }.keys)
        guard let last = refused[act],
            people.union(last).count >= ActKind.approveAction.signaturesNeeded
        else { throw .people }
    }

    private func demandPeople(behind body: JSON, _ kind: ActKind) throws(EvidenceFault) {
        let people = signers[body["act_id"]?.text ?? ""] ?? [:]
        guard people.values.count(where: { keys[$0]?.isActive == true }) >= kind.signaturesNeeded
        else { throw .people }
    }
}
