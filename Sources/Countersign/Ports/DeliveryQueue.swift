/// Work for core banking, kept in the database so that it survives every instance of this service.
///
/// Delivery is at least once. Two leases of one item never overlap on the database's clock, and a
/// worker that was slower than its lease changes nothing: ``settle(_:_:)`` compares the lease token.
package protocol DeliveryQueue: Sendable {
    /// Claims up to `limit` items that are due, each with a fresh lease token, and commits.
    ///
    /// Announcements come before orders that are due as well, so that core banking knows a key before
    /// it sees the first order signed with it. Items that another worker is claiming are skipped.
    ///
    /// - Parameters:
    ///   - limit: The most items to return; no more than the caller sends at once, because a lease
    ///     runs from the claim.
    ///   - lease: How long the claim holds on the database's clock.
    /// - Returns: The claimed items; empty when none is due.
    /// - Throws: ``StoreFailure`` when nothing was claimed, or it is not known whether anything was;
    ///   such leases simply run out.
    func claim(limit: Int, lease: Seconds) async throws(StoreFailure) -> [Claim]

    /// Records what came of a claim, in one transaction with the evidence that it calls for.
    ///
    /// Runs to its end in a cancelled task too, so that a worker can stop without losing an answer.
    ///
    /// - Parameters:
    ///   - claim: The claim as it was returned.
    ///   - outcome: What came of it.
    /// - Returns: `false` when the lease was lost or the item is settled already; nothing changed.
    /// - Throws: ``StoreFailure``; the lease then runs out and the item is delivered again.
    func settle(_ claim: Claim, _ outcome: DeliveryOutcome) async throws(StoreFailure) -> Bool
}

/// One item of work, leased to one worker.
package struct Claim: Sendable {
    /// What the worker is to do; which one is stored with the item, not derived from counts.
    package enum Phase: Sendable {
        /// Send the item.
        case push
        /// Ask core banking what became of an order in state `unknown`; never send it again.
        case reconcile
    }

    package let item: DeliveryItem
    package let phase: Phase
    package let leaseToken: ID<Lease>
    /// 1 for the first claim of the item; the back-off grows with it.
    package let attempt: Int
    /// When the item was first claimed; the time to give up is counted from here.
    package let firstAttemptAt: Instant
    /// The database's time of this claim; also the `created` of the request's signature.
    package let claimedAt: Instant

    package init(
        item: DeliveryItem, phase: Phase, leaseToken: ID<Lease>, attempt: Int,
        firstAttemptAt: Instant, claimedAt: Instant
    ) {
        self.item = item
        self.phase = phase
        self.leaseToken = leaseToken
        self.attempt = attempt
        self.firstAttemptAt = firstAttemptAt
        self.claimedAt = claimedAt
    }
}

/// What is delivered.
package enum DeliveryItem: Sendable {
    case order(ExecutionOrder)
    case credential(CredentialAnnouncement)
}

/// The instruction to carry out exactly what was signed.
///
/// The kind and content of the action are only in ``message``: nothing else could differ from it.
package struct ExecutionOrder: Sendable {
    /// Also the idempotency key towards core banking.
    package let actionID: ID<Action>
    package let customerID: CustomerID
    package let approvedAt: Instant
    /// The evidence of the approval.
    package let evidenceID: ID<Evidence>
    /// The RFC 6962 leaf hash of that evidence.
    package let leafHash: Digest
    /// The signed bytes, as stored: the customer's message, or the document of the officers' act.
    package let message: Bytes
    package let approval: OrderApproval

    package init(
        actionID: ID<Action>, customerID: CustomerID, approvedAt: Instant, evidenceID: ID<Evidence>,
        leafHash: Digest, message: Bytes, approval: OrderApproval
    ) {
        self.actionID = actionID
        self.customerID = customerID
        self.approvedAt = approvedAt
        self.evidenceID = evidenceID
        self.leafHash = leafHash
        self.message = message
        self.approval = approval
    }
}

/// Who approved an order, with the proof.
package enum OrderApproval: Sendable {
    /// The customer, whose key signed the message.
    case customer(RecordedAssertion)
    /// Officers, whose act has the message as its document.
    case assisted(act: ID<Act>, [OfficerSignature])
}

/// An officer's signature of an act as it was accepted, byte for byte.
package struct OfficerSignature: Sendable {
    /// The officer's name, which the message says too.
    package let person: String
    package let key: ID<PersonKey>
    /// An ``ActMessage``, whose SHA-256 is the assertion's challenge.
    package let message: Bytes
    package let signature: Bytes
    package let clientDataJSON: Bytes
    package let authenticatorData: Bytes

    package init(
        person: String, key: ID<PersonKey>, message: Bytes, signature: Bytes,
        clientDataJSON: Bytes, authenticatorData: Bytes
    ) {
        self.person = person
        self.key = key
        self.message = message
        self.signature = signature
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
    }

    /// Reads ``json``; `nil` when a member is missing or not of its form.
    package init?(_ json: JSON) {
        guard let person = json["person"]?.text,
            let key = json["key_id"]?.text.flatMap({ ID<PersonKey>($0) }),
            let message = json.bytes("message"), let signature = json.bytes("signature"),
            let clientDataJSON = json.bytes("client_data_json"),
            let authenticatorData = json.bytes("authenticator_data")
        else { return nil }
        self.init(
            person: person, key: key, message: message, signature: signature,
            clientDataJSON: clientDataJSON, authenticatorData: authenticatorData)
    }

    /// One element of `signatures` in an order. Source: `docs/api.md` §9.
    package var json: JSON {
        [
            "person": .string(person), "key_id": .string(key.text),
            "message": .string(Base64.encodeURL(message)),
            "signature": .string(Base64.encodeURL(signature)),
            "client_data_json": .string(Base64.encodeURL(clientDataJSON)),
            "authenticator_data": .string(Base64.encodeURL(authenticatorData)),
        ]
    }
}

/// The customer's proof as it was accepted, byte for byte.
package struct RecordedAssertion: Sendable {
    /// The bytes that differ by kind of credential.
    package enum Proof: Sendable {
        /// ECDSA P-256 with SHA-256 over the message, as it came, in the format of the enrolled key.
        case deviceKey(signature: Bytes, format: SignatureFormat)
        /// A WebAuthn assertion whose challenge is the SHA-256 of the message.
        case passkey(signature: Bytes, clientDataJSON: Bytes, authenticatorData: Bytes)
    }

    package let credentialID: ID<Credential>
    /// The credential's public key, DER `SubjectPublicKeyInfo`.
    package let publicKeySPKI: Bytes
    package let proof: Proof

    package init(credentialID: ID<Credential>, publicKeySPKI: Bytes, proof: Proof) {
        self.credentialID = credentialID
        self.publicKeySPKI = publicKeySPKI
        self.proof = proof
    }
}

/// Tells core banking of an enrolled key, so that it can check orders against its own register.
package struct CredentialAnnouncement: Sendable {
    package let credentialID: ID<Credential>
    package let customerID: CustomerID
    package let kind: CredentialKind
    /// DER `SubjectPublicKeyInfo`.
    package let publicKeySPKI: Bytes
    /// How a device key writes its signatures; `nil` for a passkey.
    package let signatureFormat: SignatureFormat?
    package let enrolledAt: Instant
    /// The evidence of the enrolment.
    package let evidenceID: ID<Evidence>

    package init(
        credentialID: ID<Credential>, customerID: CustomerID, kind: CredentialKind,
        publicKeySPKI: Bytes, signatureFormat: SignatureFormat?, enrolledAt: Instant,
        evidenceID: ID<Evidence>
    ) {
        self.credentialID = credentialID
        self.customerID = customerID
        self.kind = kind
        self.publicKeySPKI = publicKeySPKI
        self.signatureFormat = signatureFormat
        self.enrolledAt = enrolledAt
        self.evidenceID = evidenceID
    }
}

/// What came of one claim.
package enum DeliveryOutcome: Equatable, Sendable {
    /// Core banking carried the order out; `raw` is its answer, byte for byte, for the evidence.
    case executed(reference: String, raw: Bytes)
    /// Core banking refused the order for good.
    case refused(reason: String, raw: Bytes)
    /// Core banking took note of an announcement.
    case delivered
    /// Not settled; the item is due again after `after`.
    case retry(after: Seconds, cause: UnsettledCause)
    /// Not known whether the order was carried out, and it will not be sent again: its state becomes
    /// `unknown`, with evidence, or stays so without. It is due for ``Claim/Phase/reconcile`` after
    /// `askAfter`.
    case unknown(askAfter: Seconds, cause: UnsettledCause)
}

/// Why an attempt settled nothing. The raw values are labels of metrics.
package enum UnsettledCause: String, CaseIterable, Sendable {
    case timeout
    case connectionFailed = "connection_failed"
    case tls
    /// The connection broke, or the answer was not HTTP, while a request was under way.
    case broken
    case answerTooLarge = "answer_too_large"
    /// A status other than 2xx; 4xx as well, since a proxy or a wrong setting can cause any of them.
    case status
    /// A 2xx whose body is not the agreed one.
    case unreadableAnswer = "unreadable_answer"
    /// Core banking says that it never saw the order. A copy under way could still arrive, so this
    /// proves nothing.
    case notSeen = "not_seen"
    /// The stored order does not match its own signed message, and was not sent.
    case inconsistentOrder = "inconsistent_order"
    /// The request could not be signed with this service's key, and was not sent.
    case signingFailed = "signing_failed"
}
