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

    private var publication: EvidenceDraft {
        ServiceEvidence.published(version: 3, digest: digest, document: document.encoded)
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
        of decision: EvidenceDraft, after publications: [EvidenceDraft]
    ) throws -> EvidenceFault? {
        let records = try log.record(publications + [decision])
        var audit = PolicyAudit()
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
            version: 3, digest: digest, document: other.encoded)
        #expect(try fault(of: decided, after: [forged]) == .policy)
        let unread = ServiceEvidence.published(version: 3, digest: digest, document: [0x7B])
        #expect(try fault(of: decided, after: [unread]) == .policy)
    }
}
