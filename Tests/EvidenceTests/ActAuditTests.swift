import Countersign
import Crypto
import TestSupport
import Testing

@testable import Evidence

/// What takes effect, compared with what people signed.
@Suite struct `An audit of acts` {
    private static let act: ID<Act> = Fixtures.id(44)
    private static let action: ID<Action> = Fixtures.id(1)

    /// One record and what is recorded with it.
    private struct Signing {
        var name = "anna"
        var kind: ActKind
        var document: JSON
        var role: PersonRole
    }

    private func key(_ name: String, _ role: PersonRole) -> JSON {
        let spki = Bytes("key of \(name)".utf8)
        return [
            "key_id": .string(name), "person": .string(name), "client_id": .string(name),
            "role": .string(role.rawValue), "status": "active",
            "public_key": .string(Base64.encodeURL(spki)),
        ]
    }

    /// A signature whose bytes were verified already, as a lying service records it: what stands beside the
    /// message and the document says whatever `claims` says.
    private func signature(_ signing: Signing, _ stage: ActStage, claims: [(String, JSON)] = [])
        -> JSON
    {
        let message = ActMessage(
            actID: Self.act, audience: Fixtures.audience, challengeID: Fixtures.id(45),
            documentDigest: sha256(signing.document.encoded), expiresAt: Fixtures.at,
            kind: signing.kind, nonce: Fixtures.bytes32(1), person: signing.name,
            role: signing.role, stage: stage)
        let body: JSON = [
            "act_id": .string(Self.act.text), "kind": .string(signing.kind.rawValue),
            "person": .string(signing.name), "key_id": .string(signing.name),
            "public_key": key(signing.name, signing.role)["public_key"] ?? .null,
            "document": .string(Base64.encodeURL(signing.document.encoded)),
            "message": .string(Base64.encodeURL(message.bytes)),
        ]
        return claims.reduce(body) { $0.setting($1.0, to: $1.1) }
    }

    /// An audit that has seen anna and bert sign this, each with an active key.
    private func audit(
        _ kind: ActKind, _ document: JSON, as role: PersonRole,
        people: [String] = ["anna", "bert"], claims: [(String, JSON)] = [],
        after first: [(String, JSON)] = []
    ) throws -> ActAudit {
        var audit = ActAudit()
        for (kind, body) in first { try audit.check(kind, body) }
        for (name, stage) in zip(people, ActStage.allCases) {
            try audit.check("person.key_registered", key(name, role))
            let signing = Signing(name: name, kind: kind, document: document, role: role)
            try audit.check(
                stage == .propose ? "act.proposed" : "act.approved",
                signature(signing, stage, claims: claims))
        }
        return audit
    }

    private func fault(
        _ audit: ActAudit, _ kind: EvidenceKind, _ body: JSON, _ changes: [(String, JSON?)] = [],
        of action: ID<Action>? = nil
    ) -> EvidenceFault? {
        var audit = audit
        let told = changes.reduce(body) { $0.setting($1.0, to: $1.1) }
        do throws(EvidenceFault) {
            try audit.check(kind.rawValue, told, of: action)
            return nil
        } catch { return error }
    }

    private let hold: JSON = ["at_end": "release", "rule": "x", "until": "2026-01-06T10:00:00Z"]

    @Test func `counts a signature only by an active key, in the role that was signed`() throws {
        var audit = ActAudit()
        let signing = Signing(kind: .importPayees, document: ["rows": []], role: .risk)
        #expect(throws: EvidenceFault.notEnrolled) {
            try audit.check("act.proposed", signature(signing, .propose))
        }
        try audit.check("person.key_registered", key("anna", .risk))
        try audit.check("act.proposed", signature(signing, .propose))
        for wrong in [
            // Officers import nothing, and whose key is of the one role does not sign in the other.
            Signing(kind: .importPayees, document: ["rows": []], role: .officer),
            Signing(kind: .approveAction, document: ["rows": []], role: .risk),
            Signing(kind: .approveAction, document: ["rows": []], role: .officer),
            Signing(name: "bert", kind: .importPayees, document: ["rows": []], role: .risk),
        ] {
            #expect(throws: EvidenceFault.notEnrolled) {
                try audit.check("act.proposed", signature(wrong, .propose))
            }
        }
        try audit.check("person.key_revoked", key("anna", .risk))
        #expect(throws: EvidenceFault.notEnrolled) {
            try audit.check("act.proposed", signature(signing, .propose))
        }
    }

    @Test(arguments: ActKind.allCases)
    func `takes no two signatures of different things for one act`(kind: ActKind) throws {
        let role: PersonRole = kind.isFor(.risk) ? .risk : .officer
        let audit = try audit(kind, ["n": "1"], as: role, people: ["anna"])
        let others = ActKind.allCases.filter { $0.isFor(role) }
        for (other, number) in others.map({ ($0, "1") }) + [(kind, "2")] {
            var second = audit
            try second.check("person.key_registered", key("bert", role))
            let body = signature(
                Signing(name: "bert", kind: other, document: ["n": .string(number)], role: role),
                .approve)
            let isSame = other == kind && number == "1"
            #expect(
                fault(second, .actApproved, body) == (isSame ? nil : .document), "\(other)")
        }
    }

    @Test func `finds a policy that is not the signed one`() throws {
        let policy = Fixtures.policyDocument
        let document: JSON = [
            "active_from": "2026-01-05T12:00:00Z", "base_version": .integer(4), "policy": policy,
        ]
        let published: JSON = [
            "act_id": .string(Self.act.text), "kind": "policy.publish", "version": .integer(5),
            "base_version": .integer(4), "active_from": "2026-01-05T12:00:00.001Z",
            "document": .string(
                Base64.encodeURL(JSON(recorded: policy.encoded)?.encoded ?? [])),
        ]
        let both = try audit(.publishPolicy, document, as: .risk)
        #expect(fault(both, .policyPublished, published) == nil)
        let other = policy.setting("payee.cooling_off_s", to: .integer(0))
        for (member, value) in [
            ("document", .string(Base64.encodeURL(other.encoded))), ("document", nil),
            ("version", .integer(6)), ("version", .integer(4)), ("base_version", .integer(3)),
            ("active_from", "2026-01-05T11:59:59Z"), ("active_from", nil),
        ] as [(String, JSON?)] {
            #expect(
                fault(both, .policyPublished, published, [(member, value)]) == .document,
                "\(member)")
        }
        // One person is not two, whatever the record says of the kind.
        let one = try audit(.publishPolicy, document, as: .risk, people: ["anna"])
        let tightened = [("kind", JSON.string("policy.tighten"))] as [(String, JSON?)]
        #expect(fault(one, .policyPublished, published) == .people)
        #expect(fault(one, .policyPublished, published, tightened) == .people)
        let tighten = try audit(.tightenPolicy, document, as: .risk, people: ["anna"])
        #expect(fault(tighten, .policyPublished, published) == nil)
        let import_ = try audit(.importPayees, document, as: .risk)
        #expect(fault(import_, .policyPublished, published) == .document)
        #expect(fault(both, .policyPublished, published, [("act_id", "none")]) == .people)
    }

    @Test func `finds an approval, a release or a cancellation that officers did not sign`() throws
    {
        let document: JSON = ["action_id": .string(Self.action.text), "hold": hold]
        let told: JSON = [
            "act_id": .string(Self.act.text), "hold": hold, "approval": "assisted",
            "document": .string(Base64.encodeURL(document.encoded)),
        ]
        let rows: [(EvidenceKind, ActKind)] = [
            (.actionApproved, .approveAction), (.actionReleased, .releaseHold),
            (.actionCancelled, .cancelHold),
        ]
        for (record, kind) in rows {
            let one = try audit(kind, document, as: .officer, people: ["anna"])
            #expect(fault(one, record, told, of: Self.action) == .people)
            for (_, signed) in rows {
                let both = try audit(signed, document, as: .officer)
                #expect(
                    fault(both, record, told, of: Self.action)
                        == (signed == kind ? nil : .document), "\(record) \(signed)")
            }
            let both = try audit(kind, document, as: .officer)
            let changes: [(String, JSON?)] = [("document", "e30"), ("hold.rule", "y")]
            #expect(fault(both, record, told, changes, of: Self.action) == .document)
            if record == .actionApproved { continue }
            #expect(fault(both, record, told, of: Fixtures.id(2)) == .document)
            #expect(fault(both, record, told) == .document)
            // Most of them need nobody.
            #expect(fault(ActAudit(), record, ["hold": hold], of: Self.action) == nil)
        }
        // What a record says beside the signed bytes counts for nothing.
        let lying = try audit(
            .releaseHold, document, as: .officer,
            claims: [("kind", "action.approve"), ("content", ["rows": ["00"]])])
        #expect(fault(lying, .actionApproved, told, of: Self.action) == .document)
        #expect(
            fault(lying, .payeeImported, ["act_id": .string(Self.act.text), "row_digest": "00"])
                == .document)
    }

    @Test func `finds a key that was admitted in the place of the signed one`() throws {
        let cara = key("cara", .risk)
        func document(_ changes: [(String, JSON)] = []) throws -> JSON {
            let spki = try #require(cara.bytes("public_key"))
            let sound: JSON = [
                "key_id": "cara", "person": "cara", "role": "risk",
                "public_key_digest": .string(sha256(spki).hex),
            ]
            return changes.reduce(sound) { $0.setting($1.0, to: $1.1) }
        }
        let told: JSON = ["act_id": .string(Self.act.text), "key_id": "cara"]
        let pending = [("person.key_registered", cara.setting("status", to: "pending"))]
        func found(_ document: JSON, _ changes: [(String, JSON?)] = []) throws -> EvidenceFault? {
            fault(
                try audit(.admitKey, document, as: .risk, after: pending), .personKeyAdmitted,
                told, changes)
        }
        #expect(try found(document()) == nil)
        #expect(try found(document(), [("key_id", "dora")]) == .document)
        for change in [
            ("public_key_digest", "00"), ("role", "officer"), ("person", "dora"),
            ("key_id", "dora"),
        ] as [(String, JSON)] {
            #expect(try found(document([change])) == .document, "\(change)")
        }
        let officers = try audit(.admitKey, document(), as: .officer, after: pending)
        #expect(fault(officers, .personKeyAdmitted, told) == .document)
    }

    @Test func `makes the digest of an imported row again, and in production takes no other`()
        throws
    {
        let row = PayeeRow(
            customer: try CustomerID("c-1"), identity: try Fixtures.payee(),
            alias: try DisplayText("Rent", .payeeAlias),
            salt: Base64.encodeURL(Fixtures.bytes32(1)))
        let digest = sha256(row.bytes)
        let signed = ServiceEvidence.imported(
            payee: Fixtures.id(3), .init(row, under: Self.act, digest: digest)
        ).body
        let document: JSON = ["rows": [.string(digest.hex)]]
        let production = [("installation.stated", ["installation": "production"] as JSON)]
        let both = try audit(.importPayees, document, as: .risk, after: production)
        #expect(fault(both, .payeeImported, signed) == nil)
        for (member, value) in [
            ("customer_id", "c-2"), ("payee.name", "Eve"), ("payee.account", ["iban": "x"]),
            ("alias", ""), ("salt", "AAAA"), ("salt", nil), ("row_digest", "00"),
        ] as [(String, JSON?)] {
            #expect(
                fault(both, .payeeImported, signed, [(member, value)]) == .document, "\(member)")
        }
        let one = try audit(.importPayees, document, as: .risk, people: ["anna"], after: production)
        #expect(fault(one, .payeeImported, signed) == .people)
        // Records of before it was told hold no salt: the digest in the document has to do.
        let before = try audit(.importPayees, document, as: .risk)
        #expect(fault(before, .payeeImported, signed, [("salt", nil)]) == nil)
        #expect(fault(before, .payeeImported, signed, [("alias", "")]) == .document)
        let unsigned = ServiceEvidence.imported(
            payee: Fixtures.id(3),
            .init(customer: row.customer, identity: row.identity, alias: row.alias)
        ).body
        #expect(fault(ActAudit(), .payeeImported, unsigned) == nil)
        #expect(fault(both, .payeeImported, unsigned) == .people)
    }

    @Test func `has one effect, and none once it was withdrawn`() throws {
        let document: JSON = ["action_id": .string(Self.action.text), "hold": hold]
        let told: JSON = ["act_id": .string(Self.act.text), "hold": hold]
        var audit = try audit(.releaseHold, document, as: .officer)
        #expect(fault(audit, .actionReleased, told, of: Self.action) == nil)
        try audit.check("action.released", told, of: Self.action)
        #expect(fault(audit, .actionReleased, told, of: Self.action) == .people)
        var withdrawn = try self.audit(.releaseHold, document, as: .officer, people: ["anna"])
        try withdrawn.check("act.withdrawn", ["act_id": .string(Self.act.text)])
        try withdrawn.check("person.key_registered", key("bert", .officer))
        let signing = Signing(name: "bert", kind: .releaseHold, document: document, role: .officer)
        #expect(fault(withdrawn, .actApproved, signature(signing, .approve)) == .people)
    }

    @Test func `brings in each row of an import once`() throws {
        let row = PayeeRow(
            customer: try CustomerID("c-1"), identity: try Fixtures.payee(),
            alias: try DisplayText("Rent", .payeeAlias),
            salt: Base64.encodeURL(Fixtures.bytes32(1)))
        let digest = sha256(row.bytes)
        let told = ServiceEvidence.imported(
            payee: Fixtures.id(3), .init(row, under: Self.act, digest: digest)
        ).body
        var audit = try audit(.importPayees, ["rows": [.string(digest.hex)]], as: .risk)
        try audit.check("payee.imported", told)
        #expect(fault(audit, .payeeImported, told) == .people)
    }

    @Test func `gives nobody a voice in the admission of an own key`() throws {
        let anna = key("anna2", .risk).setting("person", to: "anna")
        let spki = try #require(anna.bytes("public_key"))
        let document: JSON = [
            "key_id": "anna2", "person": "anna", "role": "risk",
            "public_key_digest": .string(sha256(spki).hex),
        ]
        let audit = try audit(
            .admitKey, document, as: .risk,
            after: [("person.key_registered", anna.setting("status", to: "pending"))])
        let told: JSON = ["act_id": .string(Self.act.text), "key_id": "anna2"]
        #expect(fault(audit, .personKeyAdmitted, told) == .people)
    }

    @Test func `lets development end once`() throws {
        var audit = ActAudit()
        for word in ["development", "development", "production", "production"] {
            try audit.check("installation.stated", ["installation": .string(word)])
        }
        for word in ["development", "unstated", "x"] {
            #expect(throws: EvidenceFault.installation) {
                try audit.check("installation.stated", ["installation": .string(word)])
            }
        }
    }
}
