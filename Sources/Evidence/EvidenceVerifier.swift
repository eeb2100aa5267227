import Countersign
internal import Crypto

/// What is wrong with a stored record; the raw value is what `evidence verify` prints.
package enum EvidenceFault: String, Error, Sendable {
    case leafHash = "the leaf does not have the stored hash"
    case leafForm = "the leaf is not of a known form"
    case columns = "the leaf does not say what the columns say"
    case body = "the body cannot be opened or is not what the leaf commits to"
    case bodyMissing = "the body is missing, and nothing says that it was erased"
    case afterErasure = "something was recorded of a customer who had been erased"
    case erasure = "an erasure does not say whom it has erased"
    case message = "the signed message is not about this action"
    case unsigned = "a decision that must be signed is recorded without a signature"
    case publicKey = "the public key cannot be read"
    case challenge = "the passkey signed another challenge"
    case payment = "the browser showed another payment than the message says"
    case authenticator = "the passkey answered another relying party, or without its user"
    case signature = "the signature does not verify"
    case notEnrolled = "the signing key was not enrolled before"
    case keyEnded = "the signing key had been revoked or suspended before"
    case keyTraits = "the decision took the signing key for another than was enrolled"
    case document = "the document is not the one that was signed"
    case policy = "the policy of the decision was not published before, or cannot be read"
    case policyInForce = "the decision names another policy than was in force"
    case publication = "nobody who may has published the policy as it is recorded"
    case installation = "an installation was for development again after it had been in production"
    case verdict = "the policy decides otherwise on what was recorded"
    case inputs = "the decision looked at another payee, hold or recovery than is recorded"
    case hold =
        "a hold did not last as it was decided, or core banking was sent what was not approved"
    case people = "not enough people have signed what took effect"
    case chain = "the chain of the action or the credential is broken"
    case kept = "what was kept of detached months is not what their records say"
}

/// What is no fault and somebody has to look at; the raw value is what `evidence verify` prints.
package enum EvidenceRemark: String, Sendable {
    case foundedByRevocation = """
        a key was admitted by nobody in the place of one that had ended, as programs before V0019 did: \
        ask its person
        """
}

/// Checks stored records again from their raw bytes, believing nothing that the service said.
package struct EvidenceVerifier: Sendable {
    private let keyEncryption: KeyEncryptionKey
    private let erasures: Erasures

    /// Milliseconds between a record's own time and its storing; the database refuses more.
    private static let skewMax: Int64 = 300_000
    /// User present and user verified. Source: WebAuthn L3 §6.1.
    static let userFlags: UInt8 = 0x05

    /// - Parameters:
    ///   - keyEncryption: Opens the bodies.
    ///   - erasures: Whose bodies may be missing; without any, nobody's.
    package init(keyEncryption: KeyEncryptionKey, erasures: Erasures = Erasures()) {
        self.keyEncryption = keyEncryption
        self.erasures = erasures
    }

    /// What was checked of one record.
    package enum Finding: Hashable, Sendable {
        /// Leaf, columns and body agree; the record holds no signature.
        case intact
        /// And the customer's signature verifies with the stored key.
        case signatureVerified
        /// Its body went with its customer: leaf and columns agree, and nothing else can be known.
        case erased
        /// It is as it should be by the rules of its time, which were weaker than today's.
        case remarkable(EvidenceRemark)
    }

    /// Checks one record by itself.
    ///
    /// - Throws: ``EvidenceFault``, the first that applies.
    package func verify(_ record: StoredEvidence) throws(EvidenceFault) -> Finding {
        try examine(record).finding
    }

    /// As ``verify(_:)``, with the opened body.
    func examine(
        _ record: StoredEvidence
    ) throws(EvidenceFault) -> (finding: Finding, body: JSON) {
        let leaf = try Self.leaf(of: record)
        guard !erasures.wasErased(record.subject, before: record.id) else { throw .afterErasure }
        guard record.body != nil else {
            guard erasures.explain(record) else { throw .bodyMissing }
            return (.erased, [:])
        }
        guard let opened = record.open(with: keyEncryption),
            let body = JSON(recorded: opened.body)
        else { throw .body }
        if leaf.kind == EvidenceKind.subjectErased.rawValue, ErasedSubject(leaf, body) == nil {
            throw .erasure
        }
        return (try Self.check(leaf, body), body)
    }

    /// Checks what an opened record says by itself. That the leaf commits to the body was checked before.
    ///
    /// - Throws: ``EvidenceFault``, the first that applies.
    static func check(_ leaf: EvidenceLeaf, _ body: JSON) throws(EvidenceFault) -> Finding {
        let possessed = [EvidenceKind.credentialEnrolled, .personKeyRegistered].map(\.rawValue)
        if possessed.contains(leaf.kind) { return try verifyPossession(body) }
        if let stage = ActCheck.stage(of: leaf.kind, body) {
            try verifyAct(body, stage)
            guard leaf.kind == EvidenceKind.actRefused.rawValue || body.isSigned(by: leaf.at) else {
                throw .message
            }
            return .signatureVerified
        }
        if body["approval"] == "assisted" {
            try verifyAssisted(body, of: leaf)
            return .intact
        }
        guard body["signed"] == .bool(true) else {
            // Only a rejection may be unsigned.
            let mustBeSigned = [EvidenceKind.actionApproved, .actionRefused].map(\.rawValue)
            guard !mustBeSigned.contains(leaf.kind) else { throw .unsigned }
            return .intact
        }
        try verifySignature(body, of: leaf)
        return .signatureVerified
    }

    /// The leaf of a record whose columns say what it says.
    private static func leaf(
        of record: StoredEvidence
    ) throws(EvidenceFault) -> EvidenceLeaf {
        guard EvidenceSealer.leafHash(record.leaf).bytes == record.leafHash else {
            throw .leafHash
        }
        guard let leaf = EvidenceLeaf(decoding: record.leaf) else { throw .leafForm }
        guard leaf.id == record.id, leaf.kind == record.kind, leaf.subject == record.subject,
            leaf.action?.of == record.action?.text,
            leaf.credential?.of == record.credential?.text,
            leaf.bodyCommitment.bytes == record.bodyCommitment,
            abs(record.recordedAt.milliseconds - leaf.at.milliseconds) <= skewMax
        else { throw .columns }
        return leaf
    }

    /// Whether a record's columns say what its leaf says; needs neither its body nor any key.
    package static func columnsAgree(_ record: StoredEvidence) -> Bool {
        do throws(EvidenceFault) {
            _ = try leaf(of: record)
            return true
        } catch { return false }
    }

    private static func verifySignature(_ body: JSON, of leaf: EvidenceLeaf) throws(EvidenceFault) {
        guard let message = body.bytes("message"),
            let decoded = SignedMessage(decoding: message),
            decoded.actionID.text == leaf.action?.of,
            (decoded.decision == .reject) == (leaf.kind == EvidenceKind.actionRejected.rawValue)
        else { throw .message }
        let key: PublicKey
        do throws(KeyError) {
            key = try PublicKey(spki: body.bytes("public_key") ?? [])
        } catch { throw .publicKey }
        guard let assertion = body["assertion"], let signature = assertion.bytes("signature")
        else { throw .signature }
        let isValid: Bool
        switch assertion["kind"]?.text.flatMap(CredentialKind.init(rawValue:)) {
        case .deviceKey:
            guard let format = body.signatureFormat, let key = key.p256 else { throw .signature }
            isValid = key.isValid(signature: signature, in: format, for: message)
        case .passkey:
            let signed = try passkeyBytes(assertion, message, decoded)
            isValid = key.isValid(signature: signature, for: signed)
        case nil: throw .signature
        }
        guard isValid else { throw .signature }
    }

    /// What a passkey signed, after it is known to be an answer to this message by a verified user.
    private static func passkeyBytes(
        _ assertion: JSON, _ message: Bytes, _ decoded: SignedMessage
    ) throws(EvidenceFault) -> Bytes {
        // What the record says it is, it must be: one kind of answer never passes as the other.
        let isPayment = assertion["payment"] != nil
        let type = isPayment ? PaymentClientData.clientDataType : "webauthn.get"
        let clientData = try clientData(of: assertion, type, over: message)
        if isPayment {
            guard let shown = SignedJSON.decodeClientData(clientData),
                decoded.isConfirmed(byPayment: shown)
            else { throw .payment }
        }
        guard let authenticatorData = assertion.bytes("authenticator_data"),
            authenticatorData.count >= 37,
            Bytes(authenticatorData[..<32]) == sha256(Bytes(decoded.audience.utf8)).bytes,
            authenticatorData[32] & Self.userFlags == Self.userFlags
        else { throw .authenticator }
        return authenticatorData + sha256(clientData).bytes
    }

    /// The client's data of an answer, after it is known to be one of that type to this message.
    static func clientData(
        of answer: JSON, _ type: String, over message: Bytes
    ) throws(EvidenceFault) -> Bytes {
        guard let clientData = answer.bytes("client_data_json"),
            let data = SignedJSON.decodeClientData(clientData), data["type"]?.text == type,
            data.bytes("challenge") == sha256(message).bytes
        else { throw .challenge }
        return clientData
    }
}
