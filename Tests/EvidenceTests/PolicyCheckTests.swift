import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `Decisions in evidence` {
    private let document = Fixtures.richDocument
    private let key: P256PrivateKey
    private let log: TestLog

    init() throws {
        key = try .generate()
        log = try TestLog()
    }

    private var digest: Digest { sha256(document.encoded) }

    private var publication: EvidenceDraft { published(3, document) }

    /// A version that nobody signed.
    private func published(
        _ version: Int, _ document: JSON, from activeFrom: Instant = Fixtures.at
    ) -> EvidenceDraft {
        ServiceEvidence.published(
            version: version, digest: sha256(document.encoded), document: document.encoded,
            activeFrom: activeFrom)
    }

    /// A decision on a transfer, as it is recorded.
    private func decision(_ amount: String, _ state: RecordedState) throws -> EvidenceDraft {
        let message = try Fixtures.message(Fixtures.transfer(amount))
        let policy = Policy(
            version: 3, digest: digest, rules: try PolicyRules(document: document))
        let verdict = policy.decide(message.content, state)
        var outcome = "approved"
        if case .refused(let refusal) = verdict { outcome = refusal.word }
        return EvidenceDraft(
            verdict.isAllowed ? .actionApproved : .actionRefused, action: message.actionID,
            policy: digest, outcome: outcome,
            body: [
                "message": .string(Base64.encodeURL(message.bytes)),
                "policy": [
                    "version": .integer(3), "digest": .string(digest.hex),
                    "inputs": state.json, "verdict": verdict.json,
                ],
            ])
    }

    /// What an audit finds in a decision after the publication of its policy.
    private func fault(
        of decision: EvidenceDraft, after publications: [EvidenceDraft],
        migrated: [Int: Digest]? = nil
    ) throws -> EvidenceFault? {
        let records = try log.record(publications + [decision])
        var audit = PolicyAudit(migrated: migrated ?? [3: digest])
        do throws(EvidenceFault) {
            for record in records {
                let body = record.openBody(with: log.keyEncryption).flatMap { JSON(recorded: $0) }
                try audit.check(record.kind, record.leaf, body ?? .null)
            }
            return nil
        } catch { return error }
    }

    @Test(arguments: ["29.99", "30.00", "30.01", "400.01", "60000.00"])
    func `come to the same when they are decided again`(amount: String) throws {
        for signals in [[], ["sim_change"], ["new_device"], ["remote_access"]] {
            let state = Fixtures.state(
                risk: RecordedRisk(segment: "young", signals: signals, nameCheck: nil),
                ownLimits: .init(singleMax: .init(2000), dailyMax: .init(9000, isRaised: true)))
            #expect(try fault(of: decision(amount, state), after: [publication]) == nil)
        }
    }

    @Test func `that say something else than their policy are found`() throws {
        let decided = try decision("10.00", Fixtures.state())
        for (member, value) in [
            ("policy.inputs.used_today", "99999999"), ("policy.inputs.segment", "young"),
            ("policy.inputs.at", "yesterday"), ("policy.inputs.more", "1"),
            ("policy.verdict.outcome", "refused"), ("policy.verdict", nil),
            ("policy.inputs", nil), ("message", nil),
        ] as [(String, JSON?)] {
            let changed = decided.with(body: decided.body.setting(member, to: value))
            let found = try fault(of: changed, after: [publication])
            #expect(found == (member.hasSuffix("segment") ? nil : .verdict), "\(member)")
        }
    }

    @Test func `that were allowed are approvals, and those that were refused are none`() throws {
        for amount in ["10.00", "60000.00"] {
            let decided = try decision(amount, Fixtures.state())
            let other: EvidenceKind =
                decided.kind == .actionApproved ? .actionRefused : .actionApproved
            #expect(try fault(of: decided, after: [publication]) == nil)
            #expect(try fault(of: decided.with(kind: other), after: [publication]) == .verdict)
        }
    }

    /// What officers were refused; `changes` are of its body.
    private func refusal(
        _ amount: String, outcome: String? = nil, _ changes: [(String, JSON?)] = []
    ) throws -> EvidenceDraft {
        let approval = AssistedApproval(
            AssistedRequest(
                action: Fixtures.id(1), reason: try DisplayText("phone stolen", .actReason),
                identityCheck: IdentityCheck(
                    method: .knownToBranch, reference: try DisplayText("branch 7", .reason))),
            of: RecordedAction(
                id: Fixtures.id(1), customerID: try CustomerID("c-1"),
                content: try Fixtures.transfer(amount), externalID: nil, risk: .unsaid,
                policyVersion: 3, authorization: .pending, execution: .none, hold: nil,
                createdAt: Fixtures.at, expiresAt: Fixtures.at + Seconds(900)),
            hold: Seconds(86_400))
        let policy = Policy(
            version: 3, digest: digest, rules: try PolicyRules(document: document))
        var state = Fixtures.state()
        state.isAssisted = true
        let verdict = policy.decide(approval.content, state)
        guard case .refused(let refusal) = verdict else { throw ValuesUnexpected.allowed }
        let body: JSON = [
            "signed": .bool(false), "approval": "assisted",
            "document": .string(Base64.encodeURL(approval.document.encoded)),
            "policy": [
                "version": .integer(3), "digest": .string(digest.hex), "inputs": state.json,
                "verdict": verdict.json,
            ],
        ]
        let changed = changes.reduce(body) { $0.setting($1.0, to: $1.1) }
        return EvidenceDraft(
            .actionRefused, action: Fixtures.id(1),
            policy: changed["policy"] == nil ? nil : digest, outcome: outcome ?? refusal.word,
            body: changed)
    }

    private enum ValuesUnexpected: Error { case allowed }

    @Test func `that officers were refused come to the same when they are decided again`() throws {
        #expect(try fault(of: refusal("60000.00"), after: [publication]) == nil)
        #expect(try fault(of: refusal("60000.00"), after: []) == .policy)
        for (member, value) in [
            ("policy.inputs.assisted", "false"), ("policy.verdict.rule", "velocity"),
            ("document", "e30"), ("approval", nil),
        ] as [(String, JSON?)] {
            let found = try fault(of: refusal("60000.00", [(member, value)]), after: [publication])
            #expect(found == .verdict, "\(member)")
        }
        #expect(
            try fault(of: refusal("60000.00", outcome: "velocity"), after: [publication])
                == .verdict)
        // The one refusal for which no policy is asked.
        let unasked: [(String, JSON?)] = [("policy", nil)]
        let key = try refusal("60000.00", outcome: "customer_has_key", unasked)
        #expect(try fault(of: key, after: []) == nil)
        let other = try refusal("60000.00", outcome: "daily_max", unasked)
        #expect(try fault(of: other, after: [publication]) == .policy)
        let customers = try refusal(
            "60000.00", outcome: "customer_has_key", unasked + [("approval", nil)])
        #expect(try fault(of: customers, after: [publication]) == .policy)
    }

    @Test func `count only under a policy that was published, and as what it was published`()
        throws
    {
        let decided = try decision("10.00", Fixtures.state())
        #expect(try fault(of: decided, after: []) == .policy)
        let other = document.setting("currencies.EUR.single_max", to: "99.00")
        let forged = ServiceEvidence.published(
            version: 3, digest: digest, document: other.encoded, activeFrom: Fixtures.at)
        #expect(try fault(of: decided, after: [forged]) == .policy)
        let unread = ServiceEvidence.published(
            version: 3, digest: digest, document: [0x7B], activeFrom: Fixtures.at)
        #expect(try fault(of: decided, after: [unread]) == .policy)
        let elsewhere = decided.with(
            body: decided.body.setting("policy.version", to: .integer(4)))
        #expect(try fault(of: elsewhere, after: [publication]) == .policy)
    }

    @Test func `count only under the version that was in force`() throws {
        let decided = try decision("10.00", Fixtures.state())
        let development = ServiceEvidence.stated(isDevelopment: true)
        func found(_ others: EvidenceDraft...) throws -> EvidenceFault? {
            try fault(of: decided, after: [development, publication] + others)
        }
        let milder = document.setting("currencies.EUR.single_max", to: "9000.00")
        let later = Instant(milliseconds: Fixtures.at.milliseconds + 1)
        // An older version that is in force no more is as good as one that was never published.
        #expect(try found(published(4, milder)) == .policyInForce)
        #expect(try found(published(4, milder, from: later)) == nil)
        #expect(try found(published(2, milder)) == nil)
        #expect(
            try fault(of: decided, after: [development, published(3, document, from: later)])
                == .policyInForce)
        // A version is one document.
        #expect(try found(published(3, milder)) == .publication)
        #expect(try found(publication) == nil)
        // Records of before publications told their time hold from there on.
        let untimed = publication.with(body: publication.body.setting("active_from", to: nil))
        #expect(try fault(of: decided, after: [untimed]) == nil)
        // And nobody chooses the time of a decision so that an old version fits.
        let old = Instant(milliseconds: Fixtures.at.milliseconds - 10_001)
        var state = Fixtures.state()
        state.at = old
        let backdated = try decision("10.00", state)
        let timeless = published(3, document, from: Instant(milliseconds: 0))
        #expect(try fault(of: backdated, after: [timeless]) == .verdict)
        state.at = Instant(milliseconds: old.milliseconds + 1)
        #expect(try fault(of: decision("10.00", state), after: [timeless]) == nil)
    }

    @Test func `count under a version that nobody signed only where that may be`() throws {
        let decided = try decision("10.00", Fixtures.state())
        func found(_ installation: Bool?, _ migrated: [Int: Digest]) throws -> EvidenceFault? {
            let stated = installation.map { ServiceEvidence.stated(isDevelopment: $0) }
            return try fault(
                of: decided, after: [stated].compactMap(\.self) + [publication],
                migrated: migrated)
        }
        for installation in [nil, false] as [Bool?] {
            #expect(try found(installation, [3: digest]) == nil)
            #expect(try found(installation, [:]) == .publication)
            // What a migration brought is that version and no other.
            #expect(try found(installation, [1: digest]) == .publication)
        }
        #expect(try found(true, [:]) == nil)
        // What people signed was not in force before they did.
        let signed = publication.with(body: publication.body.setting("act_id", to: "a"))
        #expect(try fault(of: decided, after: [signed], migrated: [:]) == nil)
        let early = signed.with(
            body: signed.body.setting("active_from", to: "2026-01-05T09:59:59.999Z"))
        #expect(try fault(of: decided, after: [early], migrated: [:]) == .publication)
    }

    /// Until it was recorded what a raise is behind, whatever a customer had set could give more.
    @Test func `of before raises were told are decided again by the rule of then`() throws {
        let limits = RecordedState.OwnLimits(
            singleMax: .init(70_000, isRaised: true), tellsRaises: false)
        let decided = try decision(
            "600.00", Fixtures.state(credentialKind: .passkey, ownLimits: limits))
        #expect(decided.kind == .actionApproved)
        let inputs = decided.body["policy"]?["inputs"]
        #expect(inputs?["own_single_max"] == "70000")
        #expect(inputs?["own_single_raised"] == nil)
        #expect(inputs?["own_daily_raised"] == nil)
        #expect(try fault(of: decided, after: [publication]) == nil)
        // Half of it is no spelling.
        let half = decided.with(
            body: decided.body.setting("policy.inputs.own_daily_raised", to: "true"))
        #expect(try fault(of: half, after: [publication]) == .verdict)
    }
}
