import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// An approval by officers, checked again from its own record.
@Suite struct `The evidence of an approval by officers` {
    let log: TestLog

    init() throws { log = try TestLog() }

    private func body() throws -> JSON {
        let approval = AssistedApproval(
            AssistedRequest(
                action: Fixtures.id(1), reason: try DisplayText("phone stolen", .actReason),
                identityCheck: IdentityCheck(
                    method: .knownToBranch, reference: try DisplayText("branch 7", .reason))),
            of: RecordedAction(
                id: Fixtures.id(1), customerID: try CustomerID("c-1"),
                content: try Fixtures.transfer("1.00"), externalID: nil, risk: .unsaid,
                policyVersion: 1, authorization: .pending, execution: .none, hold: nil,
                createdAt: Fixtures.at, expiresAt: Fixtures.at + Seconds(900)),
            hold: Seconds(86_400))
        let document = approval.document.encoded
        return [
            "signed": .bool(false), "approval": "assisted",
            "act_id": .string(ID<Act>(rawValue: 7).text),
            "document": .string(Base64.encodeURL(document)),
            "document_digest": .string(sha256(document).hex), "people": ["anna", "bert"],
        ]
    }

    private func fault(
        _ changes: [(String, JSON?)] = [], _ kind: EvidenceKind = .actionApproved, action: Int = 1
    ) throws -> EvidenceFault? {
        let body = changes.reduce(try body()) { $0.setting($1.0, to: $1.1) }
        let draft = EvidenceDraft(
            kind, action: Fixtures.id(action), outcome: "approved", body: body)
        return log.verifier.fault(of: try log.record([draft])[0])
    }

    @Test func `holds what they signed, about this action`() throws {
        #expect(try fault() == nil)
        #expect(try fault(action: 2) == .message)
        #expect(try fault([("document", "e30")]) == .document)
        #expect(try fault([("document", nil)]) == .document)
        #expect(try fault([("document_digest", "00")]) == .document)
        let other = Bytes("{}".utf8)
        #expect(
            try fault([
                ("document", .string(Base64.encodeURL(other))),
                ("document_digest", .string(sha256(other).hex)),
            ]) == .message)
    }

    @Test func `is the only decision without a customer's signature, refused or not`() throws {
        for kind in [EvidenceKind.actionApproved, .actionRefused] {
            #expect(try fault([], kind) == nil)
            #expect(try fault([("approval", nil)], kind) == .unsigned)
            #expect(try fault([("act_id", nil)], kind) == .unsigned)
            #expect(try fault([("document_digest", "00")], kind) == .document)
            #expect(try fault([], kind, action: 2) == .message)
        }
        #expect(try fault([], .actionRejected) == .unsigned)
    }
}
