import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// One decision of the customer's phone, recorded in a log of some hundred leaves, and what signs that log.
struct BundleWorld {
    /// What happened. A test changes the one thing that it is about.
    struct Story {
        var content: ActionContent
        var decision = SignedDecision.approve
        var credential = CredentialKind.deviceKey
        /// Whether an approval is held.
        var isHeld = false
        /// What was told after the decision, besides what it brings about itself.
        var following: [BundleRole] = [.executed]
        /// Recorded after everything else, where it should be before the decision.
        var late: BundleRole?
        /// Whether what follows the decision continues another record than the decision.
        var isForked = false
        /// Whose chain has begun before: `created` or `enrolled`.
        var continued: BundleRole?
        /// Whether what follows the decision has a lower number in the chain of the action.
        var isNumberedBefore = false
        /// Where the salts come from.
        var entropy = EntropySource.openSSL
        /// What is recorded of another customer.
        var ofOther: BundleRole?
        var document = Fixtures.policyDocument
        /// The name of the log that signs.
        var origin = TestLog.origin
        var alter: (BundleRole, EvidenceDraft) -> EvidenceDraft = { $1 }

        init(_ content: ActionContent) { self.content = content }
    }

    private(set) var records: [BundleRole: EvidenceBundle.Record] = [:]
    private let story: Story
    private let sealing: TestLog
    private var leaves = Self.filler
    private var actions: [ID<Action>: ChainHead] = [:]
    private var credentials: [ID<Credential>: ChainHead] = [:]
    private let log: NoteSigner
    private let witnesses: [NoteSigner]

    private static let filler = NaiveTree(size: 600).leafHashes
    private var document: Bytes { story.document.encoded }

    init(_ content: ActionContent? = nil, _ change: (inout Story) throws -> Void = { _ in })
        async throws
    {
        var story = Story(try content ?? Fixtures.transfer())
        try change(&story)
        self.story = story
        sealing = try TestLog(entropy: story.entropy)
        log = try NoteSigner(story.origin, seed: 7)
        witnesses = try (1...2).map {
            try NoteSigner("witness.example/w\($0)", .cosignature, seed: 10 + $0)
        }
        try await tell()
    }

    private mutating func tell() async throws {
        let bank = try TestBank(
            policy: Policy(
                version: 3, digest: sha256(document),
                rules: try PolicyRules(document: story.document)))
        if story.isHeld {
            bank.store.change { $0.contactHoldUntil = Fixtures.at + Seconds(3600) }
        }
        let asked = try bank.ask(story.content)
        let decided = try await Decided(
            bank.command(story.decision, asked, by: story.credential), at: bank, asked)
        let credential =
            story.credential == .deviceKey ? bank.phone.deviceKeyID : bank.phone.passkeyID
        let begun = ChainHead(length: 3, leafHash: sha256([]))
        if story.continued == .created { actions[asked.action.id] = begun }
        if story.continued == .enrolled { credentials[credential] = begun }
        let before: [(BundleRole, EvidenceDraft, Int64)] = [
            (.policy, published, -86_400), (.enrolled, try enrolled(credential, bank.phone), -7200),
            (.created, created(asked.action), -2),
        ]
        for (role, draft, at) in before where role != story.late {
            // No policy decides on a rejection.
            let isIn = role != .policy || story.decision == .approve
            try record(isIn ? role : nil, draft, at)
        }
        let created = actions[asked.action.id]
        for _ in 0..<(story.isNumberedBefore ? 2 : 1) {
            try record(nil, ActionEvidence.issued(asked.challenge, for: asked.action.id), -2)
        }
        let enrolment = records[.enrolled].flatMap { EvidenceLeaf(decoding: $0.leaf)?.id.text }
        for draft in decided.drafts {
            let isDecision = draft.body["enrolment_evidence_id"] != nil
            let body =
                isDecision
                ? draft.body.setting("enrolment_evidence_id", to: .optional(enrolment)) : draft.body
            try record(BundleRole(draft.kind), draft.with(body: body), 0)
        }
        if story.isForked {
            actions[asked.action.id] = ChainHead(
                length: actions[asked.action.id]?.length ?? 0, leafHash: sha256([]))
        }
        if story.isNumberedBefore { actions[asked.action.id] = created }
        for (index, role) in story.following.enumerated() {
            let hold = decided.drafts[0].body["policy"]?["verdict"]?["hold"] ?? .null
            try record(
                role, following(role, asked.action.id, hold), 4000 + Int64(index))
        }
        for (role, draft, at) in before where role == story.late { try record(role, draft, at) }
        leaves += Self.filler.prefix(20)
    }

    private var published: EvidenceDraft {
        ServiceEvidence.published(
            version: 3, digest: sha256(document), document: document,
            activeFrom: Fixtures.at - Seconds(80_000))
    }

    /// The enrolment as the service records it, as far as anybody checks it.
    private func enrolled(
        _ credential: ID<Credential>, _ phone: TestPhone
    ) throws -> EvidenceDraft {
        let message = Bytes("enrol".utf8)
        let recorded = phone.registered(story.credential)
        var proof: JSON = ["kind": .string(story.credential.rawValue)]
        if case .deviceKey(_, let signature, _) = try phone.sign(message),
            story.credential == .deviceKey
        {
            proof = proof.setting("signature", to: .string(Base64.encodeURL(signature)))
        } else {
            let clientData: JSON = [
                "type": "webauthn.create",
                "challenge": .string(Base64.encodeURL(sha256(message).bytes)),
                "origin": .string(Fixtures.origin),
            ]
            proof = proof.setting(
                "client_data_json", to: .string(Base64.encodeURL(clientData.encoded)))
            proof = proof.setting(
                "passkey_id", to: .string(Base64.encodeURL(sha256(message).bytes)))
            proof = proof.setting("transports", to: ["hybrid", "internal"])
        }
        return EvidenceDraft(
            .credentialEnrolled, credential: credential, outcome: "active",
            body: [
                "client_id": "019b8d9c-1000-7000-8000-000000000003",
                "enrolment_id": "019b8d9c-1000-7000-8000-000000000004",
                "kind": .string(story.credential.rawValue), "label": "my phone",
                "public_key": .string(Base64.encodeURL(recorded.publicKey)),
                "signature_format": .optional(recorded.signatureFormat?.rawValue),
                "message": .string(Base64.encodeURL(message)), "proof": proof,
                "attestation": ["verdict": "none", "format": "none", "profiles": []],
                "assurance": "none", "backup_eligible": .bool(false), "backup_state": .bool(false),
                "enrolled_at": "2026-01-05T08:00:00.123Z", "sign_count": .integer(0),
                "authorization": ["kind": "sca_token"],
            ],
            // As long as a signed token of a bank, and as the attestation of a real phone.
            attachment: [
                "authorization": ["token": .string(String(repeating: "e", count: 600))],
                "attestation": [
                    "format": "android-key",
                    "certificates": .array(
                        Self.certificateSizes.map {
                            .string(Base64.encodeURL(Bytes(repeating: 7, count: $0)))
                        }),
                ],
            ])
    }

    /// In bytes, leaf first: of a StrongBox of 2025, a chain of five certificates as Android's remote
    /// provisioning makes them.
    static let certificateSizes = [799, 487, 475, 900, 1312]

    private func created(_ action: RecordedAction) -> EvidenceDraft {
        EvidenceDraft(
            .actionCreated, action: action.id, outcome: "pending",
            body: [
                "action": action.json, "client_id": "019b8d9c-1000-7000-8000-000000000003",
                "risk": .null,
            ])
    }

    private func following(
        _ role: BundleRole, _ action: ID<Action>, _ hold: JSON
    ) -> EvidenceDraft {
        switch role {
        case .released:
            EvidenceDraft(.actionReleased, action: action, outcome: "ready", body: ["hold": hold])
        case .cancelled: ActionEvidence.cancelled(action, reason: "by_bank")
        case .rejected:
            EvidenceDraft(
                .actionRejected, action: action, outcome: "rejected",
                body: ["signed": .bool(false), "reason": "by_customer"])
        case .erased: Self.erasure(of: TestLog.subject)
        case .notExecuted:
            ActionEvidence.refused(action, reason: "no_funds", raw: Bytes("{}".utf8))
        default:
            ActionEvidence.executed(
                action, reference: "CB-2026-17", raw: Bytes(#"{"status":"executed"}"#.utf8))
        }
    }

    /// What is recorded when a subject is erased.
    static func erasure(of subject: ID<Subject>) -> EvidenceDraft {
        PrivacyEvidence.erased(
            subject, by: Fixtures.id(3), records: 9, serviceRecords: [Fixtures.id(4)],
            retentionDays: 1826)
    }

    /// Seals a record, and puts it into the log; without a role it is in no bundle.
    private mutating func record(
        _ role: BundleRole?, _ draft: EvidenceDraft, _ seconds: Int64
    ) throws {
        let draft = role.map { story.alter($0, draft) } ?? draft
        let subject =
            role != nil && role == story.ofOther
            ? Fixtures.id(11)
            : [.policyPublished, .subjectErased].contains(draft.kind)
                ? EvidenceSealer.serviceSubject : TestLog.subject
        let sealed = try #require(
            sealing.sealer.seal(
                [draft], subject: subject,
                wrappedKey: sealing.keyEncryption.wrapFreshKey(for: subject, entropy: .openSSL),
                at: Fixtures.at + Seconds(seconds),
                heads: ChainHeads(actions: actions, credentials: credentials)))[0]
        if let action = sealed.action { actions[action].advance(sealed.leafHash) }
        if let credential = sealed.credential { credentials[credential].advance(sealed.leafHash) }
        if let role {
            records[role] = EvidenceBundle.Record(
                role: role, position: Int64(leaves.count), leaf: sealed.leaf,
                body: EvidenceBundle.OpenedBody(salt: sealed.salt, bytes: draft.body.encoded))
        }
        leaves.append(sealed.leafHash)
    }
}

extension ChainHead? {
    fileprivate mutating func advance(_ leafHash: Digest) {
        self = ChainHead(length: (self?.length ?? 0) + 1, leafHash: leafHash)
    }
}

extension BundleWorld {
    /// The text of a policy that demands both witnesses.
    var policyText: Bytes {
        Bytes(
            """
            log \(log.key.text)
            witness a \(witnesses[0].key.text)
            witness b \(witnesses[1].key.text)
            group both all a b
            quorum both

            """.utf8)
    }

    /// The signed checkpoint of all leaves.
    func checkpoint() throws -> SignedNote {
        let tree = TiledTree(leaves)
        let text = Checkpoint(
            origin: story.origin, size: tree.edge.size, root: tree.edge.root
        ).text
        return SignedNote(text: text, signatures: try ([log] + witnesses).map { try $0.sign(text) })
    }

    /// The bundle of all records, or of some instead; a test decides what it takes for timestamps.
    func bundle(
        _ records: [BundleRole: EvidenceBundle.Record]? = nil, timestamps: [Bytes] = []
    ) throws -> EvidenceBundle {
        let tree = TiledTree(leaves)
        return try #require(
            EvidenceBundle(
                Array((records ?? self.records).values), timestamps: timestamps,
                checkpoint: checkpoint(), from: tree.hashes))
    }

    /// The records as they are once the customer was erased.
    var bare: [BundleRole: EvidenceBundle.Record] {
        records.mapValues { record in
            EvidenceBundle.Record(
                role: record.role, position: record.position, leaf: record.leaf,
                body: record.role == .policy ? record.body : nil)
        }
    }

    /// The bundle of an erased customer, with the body of the erasure, which nobody puts there.
    func withBodyOfErasure() throws -> Bytes {
        let body = try #require(records[.erased]?.body)
        let text = JSON.string(String(decoding: body.bytes, as: UTF8.self)).encoded
        // It is the last of the entries.
        return Bytes(try bundle(bare).encoded.dropLast(3))
            + Bytes(#","salt":"\#(Base64.encodeURL(body.salt))","body":"#.utf8) + text
            + Bytes("}}}".utf8)
    }

    /// A world whose salts end as JSON may begin.
    static func withSaltsOfSpaces() async throws -> BundleWorld {
        try await BundleWorld {
            $0.entropy = EntropySource { Bytes(repeating: 0x20, count: $0) }
        }
    }

    /// The bundle with the last byte of a salt in the body instead.
    func withShortSalt(_ role: BundleRole) throws -> Bytes {
        let record = try #require(records[role])
        let body = try #require(record.body)
        var respelled = records
        respelled[role] = EvidenceBundle.Record(
            role: role, position: record.position, leaf: record.leaf,
            body: EvidenceBundle.OpenedBody(
                salt: Bytes(body.salt.dropLast()), bytes: Bytes(body.salt.suffix(1)) + body.bytes))
        return try bundle(respelled).encoded
    }

    /// A world whose decision names no credential.
    static func signedByNobody() async throws -> BundleWorld {
        try await BundleWorld {
            $0.alter = { role, draft in
                guard role == .approved else { return draft }
                return EvidenceDraft(
                    draft.kind, action: draft.action, policy: draft.policy, outcome: draft.outcome,
                    body: draft.body)
            }
        }
    }

    /// What the verifier says of a bundle's bytes.
    func verify(
        _ bytes: Bytes, timestamp: BundleVerifier.TimestampCheck? = nil
    ) throws -> VerifiedBundle {
        try BundleVerifier(trust: TrustPolicy(text: policyText), verifyTimestamp: timestamp)
            .verify(bytes)
    }

    /// What is wrong with a bundle's bytes; `nil` when nothing is.
    func fault(_ bytes: Bytes) throws -> BundleFault? {
        do {
            _ = try verify(bytes)
            return nil
        } catch let fault as BundleFault { return fault }
    }
}
