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
    static func verifyAct(_ body: JSON, _ stage: ActStage) throws(EvidenceFault) {
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
    static func verifyAssisted(_ body: JSON, of leaf: EvidenceLeaf) throws(EvidenceFault) {
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

extension JSON {
    /// Whether a person signed before the time for it was over.
    func isSigned(by instant: Instant) -> Bool {
        bytes("message").flatMap { ActMessage(decoding: $0) }.map { instant <= $0.expiresAt }
            ?? false
    }
}
