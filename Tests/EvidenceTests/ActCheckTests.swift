import Countersign
import Crypto
import TestSupport
import Testing

@testable import Evidence

/// Checking the signatures of people again, from evidence alone.
@Suite struct `The evidence of an act` {
    private struct Signed {
        let context: ActContext
        let signature: NewActSignature
    }

    private func signed(
        stage: ActStage = .propose, effect: ActEffect = .none, flags: UInt8 = 0x05,
        kind: ActKind = .publishPolicy, by name: String = "anna", as role: PersonRole = .risk,
        document: JSON = ["policy": Fixtures.policyDocument]
    ) throws -> Signed {
        let phone = try TestPhone()
        guard case .passkey(let stored) = phone.registered(.passkey).stored else {
            preconditionFailure("a passkey is one")
        }
        let person = Person(id: Fixtures.id(40), name: name, role: role)
        let other = Person(id: Fixtures.id(41), name: "another", role: role)
        let key = RecordedPersonKey(
            id: Fixtures.id(name == "anna" ? 42 : 47), person: person, label: "laptop",
            status: .active,
            stored: stored,
            transports: [], backupState: false, registeredAt: Fixtures.at,
            evidenceID: Fixtures.id(43))
        let act = RecordedAct(
            id: Fixtures.id(44), kind: kind, role: role, document: document.encoded,
            content: document, digest: sha256(document.encoded), state: .open,
            createdBy: stage == .propose ? person : other, createdAt: Fixtures.at,
            expiresAt: Fixtures.at + RecordedAct.lifetime)
        let message = ActMessage(
            actID: act.id, audience: Fixtures.audience, challengeID: Fixtures.id(45),
            documentDigest: act.digest, expiresAt: Fixtures.at + Seconds(300), kind: act.kind,
            nonce: Fixtures.bytes32(1), person: person.name, role: role, stage: stage)
        let challenge = RecordedActChallenge(
            id: message.challengeID, act: act.id, person: person.id, stage: stage,
            message: message.bytes, state: .live, createdAt: Fixtures.at,
            expiresAt: message.expiresAt)
        guard case .passkey(let assertion) = try phone.assert(message.bytes, flags: flags) else {
            preconditionFailure("a passkey answers as one")
        }
        let base = ProposalContext(at: Fixtures.at, person: person, keys: [key], policies: [])
        return Signed(
            context: ActContext(base: base, act: act, challenge: challenge),
            signature: NewActSignature(
                command: SignActCommand(
                    person: person.id, act: act.id, challenge: challenge.id,
                    assertion: assertion),
                challenge: challenge, key: key, signCount: 0, backupState: false, effect: effect))
    }

    private func body(_ signed: Signed) throws -> JSON {
        let drafts = PersonEvidence.signed(
            signed.signature, on: signed.context, sha256: .openSSL)
        return try #require(drafts.first).body
    }

    @Test func `counts until the question has expired, and not after it`() throws {
        let log = try TestLog()
        let signed = try signed()
        let drafts = PersonEvidence.signed(
            signed.signature, on: signed.context, sha256: .openSSL)
        for (seconds, fault) in [(300, nil), (301, .message)] as [(Int64, EvidenceFault?)] {
            let sealed = try #require(
                log.sealer.seal(
                    drafts, subject: TestLog.subject, wrappedKey: log.wrappedKey,
                    at: Fixtures.at + Seconds(seconds), heads: ChainHeads()))
            let record = StoredEvidence(sealed[0], wrappedKey: log.wrappedKey)
                .with(recordedAt: Fixtures.at + Seconds(seconds))
            #expect(log.verifier.fault(of: record) == fault)
        }
    }

    @Test(arguments: ActStage.allCases)
    func `verifies from its own bytes`(stage: ActStage) throws {
        let body = try body(try signed(stage: stage))
        #expect(throws: Never.self) { try EvidenceVerifier.verifyAct(body, stage) }
    }

    @Test(arguments: [
        ("message", JSON.string("e30"), EvidenceFault.message),
        ("act_id", .string(Fixtures.idText(46)), .message), ("person", "bert", .message),
        ("kind", "policy.tighten", .message), ("document", "e30", .document),
        ("public_key", "e30", .publicKey), ("assertion", .null, .signature),
        ("assertion.signature", "e30", .signature),
        ("assertion.client_data_json", "e30", .challenge),
        ("assertion.authenticator_data", "e30", .authenticator),
    ])
    func `with another member is a fault`(
        path: String, value: JSON, fault: EvidenceFault
    ) throws {
        let altered = try body(try signed()).setting(path, to: value)
        #expect(throws: fault) { try EvidenceVerifier.verifyAct(altered, .propose) }
    }

    @Test func `of another stage, or without a verified user, is a fault`() throws {
        let proposed = try body(try signed())
        #expect(throws: EvidenceFault.message) {
            try EvidenceVerifier.verifyAct(proposed, .approve)
        }
        let unverified = try body(try signed(flags: 0x01))
        #expect(throws: EvidenceFault.authenticator) {
            try EvidenceVerifier.verifyAct(unverified, .propose)
        }
    }

    @Test func `lets two people of a role begin without others, and nobody after them`() throws {
        var audit = ActAudit()
        try audit.check("installation.stated", ["installation": "production"])
        try audit.check("person.key_registered", key("k1", of: "anna"))
        try audit.check("person.key_registered", key("k2", of: "bert"))
        try audit.check("person.key_registered", key("k3", of: "cara", "pending"))
        try audit.check("person.key_revoked", key("k1", of: "anna"))
        for client in ["anna", "cara"] {
            #expect(throws: EvidenceFault.people) {
                try audit.check("person.key_registered", key("k4", of: client))
            }
        }
        // The operator opens it again: Bert, who has a key, is one of the two.
        let reopened: JSON = ["role": "risk", "people": ["bert"]]
        for wrong: JSON in [["dora"], ["anna", "bert"], .null] {
            #expect(throws: EvidenceFault.people) {
                try audit.check("person.founding_reopened", reopened.setting("people", to: wrong))
            }
        }
        try audit.check("person.founding_reopened", reopened)
        #expect(throws: EvidenceFault.people) {
            try audit.check("person.key_registered", key("k5", of: "bert"))
        }
        try audit.check("person.key_registered", key("k6", of: "anna"))
        #expect(throws: EvidenceFault.people) {
            try audit.check("person.key_registered", key("k7", of: "cara"))
        }
    }

    /// Programs before V0019 let whoever came next take the place of a key that had ended.
    @Test func `tells a founding by the old rule from one that was never allowed`() throws {
        func audit(after first: [(String, JSON)]) throws -> ActAudit {
            var audit = ActAudit()
            for (kind, body) in first { try audit.check(kind, body) }
            try audit.check("person.key_registered", key("k1", of: "anna"))
            try audit.check("person.key_registered", key("k2", of: "bert"))
            return audit
        }
        var old = try audit(after: [])
        // Both are active: no rule ever let a third one in, nor a second key of one of them.
        for client in ["anna", "cara"] {
            var third = old
            #expect(throws: EvidenceFault.people) {
                try third.check("person.key_registered", key("k3", of: client))
            }
        }
        try old.check("person.key_revoked", key("k1", of: "anna"))
        #expect(
            try old.check("person.key_registered", key("k4", of: "anna")) == .foundedByRevocation)
        #expect(throws: EvidenceFault.people) {
            try old.check("person.key_registered", key("k5", of: "cara"))
        }
        // Whatever states what it is was made by a program that knows the rule of today.
        for word in ["development", "production"] {
            var today = try audit(after: [("installation.stated", ["installation": .string(word)])])
            try today.check("person.key_revoked", key("k1", of: "anna"))
            #expect(throws: EvidenceFault.people) {
                try today.check("person.key_registered", key("k4", of: "anna"))
            }
        }
    }

    @Test
    func `demands the two officers behind a refusal, whose last signature counts for nothing`()
        throws
    {
        let proposal = try signed(stage: .propose, kind: .approveAction, as: .officer)
        let last = try signed(stage: .approve, kind: .approveAction, by: "bert", as: .officer)
        let proposed = try body(proposal)
        let refused = PersonEvidence.refused(
            last.signature, because: .customerHasKey, on: last.context)
        #expect(refused.kind == .actRefused && refused.outcome == "customer_has_key")
        #expect(ActCheck.stage(of: "act.refused", refused.body) == .approve)
        #expect(throws: Never.self) { try EvidenceVerifier.verifyAct(refused.body, .approve) }
        #expect(throws: EvidenceFault.message) {
            try EvidenceVerifier.verifyAct(refused.body.setting("person", to: "cara"), .approve)
        }
        let told: JSON = [
            "approval": "assisted", "act_id": proposed["act_id"] ?? .null,
            "document": proposed["document"] ?? .null,
        ]
        var audit = ActAudit()
        #expect(throws: EvidenceFault.notEnrolled) { try audit.check("act.refused", refused.body) }
        for body in [proposed, refused.body] {
            try audit.check(
                "person.key_registered",
                [
                    "key_id": body["key_id"] ?? .null, "person": body["person"] ?? .null,
                    "client_id": body["person"] ?? .null, "role": "officer",
                    "public_key": body["public_key"] ?? .null, "status": "active",
                ])
        }
        #expect(throws: EvidenceFault.document) { try audit.check("action.refused", told) }
        #expect(throws: EvidenceFault.document) { try audit.check("act.refused", refused.body) }
        try audit.check("act.proposed", proposed)
        #expect(throws: EvidenceFault.people) { try audit.check("action.refused", told) }
        try audit.check("act.refused", refused.body)
        try audit.check("action.refused", told)
        #expect(throws: EvidenceFault.document) {
            try audit.check("action.refused", told.setting("document", to: "e30"))
        }
        // It is no approval.
        #expect(throws: EvidenceFault.people) { try audit.check("action.approved", told) }
        // What a customer was refused names no act, and who was refused a proposal has signed nothing.
        try audit.check("action.refused", ["signed": .bool(true)])
        let command = ProposeActCommand(
            person: Fixtures.id(40), kind: .approveAction, document: ["reason": "x"])
        let unsigned = PersonEvidence.refused(
            command, because: .customerHasKey, by: proposal.context.base.person, withContent: true)
        #expect(ActCheck.stage(of: "act.refused", unsigned.body) == nil)
        try audit.check("act.refused", unsigned.body)
    }

    private func key(_ id: String, of client: String, _ status: String = "active") -> JSON {
        [
            "key_id": .string(id), "person": .string(client), "client_id": .string(client),
            "role": "risk", "public_key": .string(id), "status": .string(status),
        ]
    }
}

extension Fixtures {
    fileprivate static func idText(_ number: Int) -> String {
        let id: ID<Act> = id(number)
        return id.text
    }
}
