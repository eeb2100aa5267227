import Countersign
import Crypto
import Evidence
import Foundation
import Postgres
import TestSupport
import Testing

/// The events of EV-17, each with the test by which it is recorded; what is told by another record than its own
/// is in `docs/evidence-format.md`.
@Suite struct `Every event that must be told` {
    private struct Row: CustomTestStringConvertible {
        let event: String
        let kinds: [EvidenceKind]
        /// A file of this folder, and a test in it.
        let file: String
        let test: String

        init(_ event: String, _ kinds: [EvidenceKind], _ file: String, _ test: String) {
            self.event = event
            self.kinds = kinds
            self.file = file
            self.test = test
        }

        var testDescription: String { event }
    }

    private static let table = [
        Row(
            "an action is created, asked about, asked anew, rejected",
            [.actionCreated, .challengeIssued, .actionRejected], "EventCoverageTests",
            "of an action that is asked about twice and rejected"),
        Row(
            "an action is cancelled", [.actionCancelled], "CredentialRevocationTests",
            "cancels what it approved and was not sent, and gives back what it reserved"),
        Row(
            "an action expires", [.actionExpired], "TimeTests",
            "an expired action is refused, and expiry is written once"),
        Row(
            "an action fails", [.actionFailed], "EventCoverageTests",
            "of an action that has no attempt left"),
        Row(
            "a proof verifies", [.actionApproved], "ApprovalTests",
            "64 identical approvals make one decision and get one answer"),
        Row(
            "a proof does not verify, and blocks", [.attemptFailed, .customerLocked],
            "AttemptTests",
            "after the fifth failure even the right signature finds the customer locked"),
        Row(
            "a key fails too often", [.credentialSuspended], "CredentialFailureTests",
            "is suspended at its hundredth failure, and what was open ends with it"),
        Row(
            "an order is executed", [.orderExecuted], "DeliveryQueueTests",
            "a receipt settles once and is evidence"),
        Row(
            "an order is refused", [.orderRefused], "EventCoverageTests",
            "of an order that core banking refuses"),
        Row(
            "an order is unknown", [.orderUnknown], "DeliveryQueueTests",
            "an unknown order is only asked about, until it is known"),
        Row(
            "core banking contradicts itself", [.orderContradicted], "PullDeliveryTests",
            "keep their first receipt, and another one is evidence, once"),
        Row(
            "a hold is placed", [.actionHeld], "AssistedApprovalTests",
            "is told with all that was signed and looked at"),
        Row(
            "a hold is released, or ended early by people", [.actionReleased], "HoldActTests",
            "releases, and what was held is due at once"),
        Row(
            "a limit decides, under which policy", [.actionRefused], "LimitTests",
            "the daily maximum is filled and never passed"),
        Row(
            "a key is enrolled", [.credentialEnrolled], "EnrolmentTests",
            "a first device key with a token of the identity system"),
        Row(
            "a key vouches for another, and is found copied",
            [.credentialAuthorized, .credentialBackupStateChanged], "EnrolmentTests",
            "a passkey, and a second one that the first vouches for"),
        Row(
            "a key is revoked", [.credentialRevoked], "CredentialRevocationTests",
            "many revocations at once are one"),
        Row(
            "a customer recovers", [.recovery], "RecoveryTests",
            "ends keys, questions, enrolments and what was not tried"),
        Row(
            "payees come and go", [.payeeAdded], "AssistedApprovalTests",
            "confirms a payee and a change of contact data, which wait too"),
        Row(
            "a payee is imported", [.payeeImported], "OperatorEvidenceTests",
            "with a payee is its import and nothing beside it"),
        Row(
            "a payee is removed", [.payeeRemoved], "PayeeRemovalTests",
            "are payees no more, with evidence, and only of their customer"),
        Row(
            "a policy changes: who, approved by, what",
            [.policyProposed, .policyApproved, .policyPublished], "PolicyPublicationTests",
            "records the document, its base and what is different"),
        Row(
            "people act", [.actProposed, .actApproved, .personKeyAdmitted], "ActTests",
            "takes effect when two people have signed the same document"),
        Row(
            "people are refused", [.actRefused], "RefusedActTests",
            "by the policy is recorded with the last signature, which is spent"),
        Row(
            "an act is withdrawn", [.actWithdrawn], "ActRaceTests",
            "and its withdrawal end it one way"),
        Row(
            "a draft is watched", [.shadowStarted, .shadowEnded], "ShadowTests",
            "is begun and ended by a person of the risk team, as evidence tells"),
        Row(
            "a person's key is registered", [.personKeyRegistered], "PersonKeyTests",
            "of the first two people of a role count at once, and every later one waits"),
        Row(
            "a person's key ends", [.personKeyRevoked], "OperatorEvidenceTests",
            "with the end of a key is that end and nothing beside it"),
        Row(
            "a founding is opened again", [.personFoundingReopened], "OperatorEvidenceTests",
            "with a founding is that it was opened and nothing beside it"),
        Row(
            "a client is added", [.clientAdded], "OperatorEvidenceTests",
            "with a client is that it was added and nothing beside it"),
        Row(
            "evidence is read", [.evidenceRead], "EvidenceFilterTests",
            "and all of it is taken away, which is evidence before and after"),
        Row(
            "tampering is found", [.tamperDetected], "RefusedActTests",
            "is found by officers at every step, and evidence says so"),
        Row(
            "a signed request comes again", [.requestReplayed], "DeviceRequestTests",
            "64 copies at once are accepted once, and the replay is recorded once"),
        Row(
            "signed requests are judged otherwise", [.requestConfigured], "RequestSigningTests",
            "is set for one credential, with evidence of each change"),
        Row(
            "an installation says what it is for", [.installationStated], "AuditTests",
            "never again is development once it has been production"),
        Row(
            "the log gets a key, or promises do", [.logKey, .promiseKey], "EventCoverageTests",
            "of a key that signs the log, or promises"),
        Row(
            "a customer is erased", [.subjectErased], "ErasureTests",
            "takes the documents that officers signed about the customer with it"),
        Row(
            "a legal hold is set and lifted", [.subjectHoldSet, .subjectHoldLifted], "ErasureTests",
            "waits until a legal hold is lifted, with the reasons of both"),
        Row(
            "a month is detached", [.evidenceDetached], "RetentionTests",
            "is detached when its time is over, and the log still stands"),
    ]

    @Test(arguments: table)
    private func `has a test that looks for its record`(row: Row) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "\(row.file).swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "func `\(row.test)`"))
        let rest = text[start.upperBound...]
        let body = rest[..<(rest.range(of: "@Test")?.lowerBound ?? rest.endIndex)]
        for kind in row.kinds {
            #expect(body.contains(".\(kind)") || body.contains(kind.rawValue), "\(kind.rawValue)")
        }
    }

    @Test func `is every kind of record that there is`() {
        let told = Set(Self.table.flatMap(\.kinds))
        #expect(EvidenceKind.allCases.filter { !told.contains($0) } == [])
    }

    private func told(_ world: DecisionWorld) async throws -> [String] {
        let kinds = try await world.text(
            "SELECT string_agg(kind, ',' ORDER BY id) FROM countersign.evidence WHERE action_id IS NOT NULL"
        )
        return kinds?.split(separator: ",").map(String.init) ?? []
    }

    @Test func `of an action that is asked about twice and rejected`() async throws {
        try await DecisionWorld.with(connections: 2) { world in
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            // The second question ends the first, which is told with it.
            guard case .issued(let json) = try await world.bank.issueChallenge(for: asked.id),
                let id = json["id"]?.text.flatMap({ ID<Challenge>($0) }),
                let approve = json["messages"]?.bytes("approve"),
                let reject = json["messages"]?.bytes("reject")
            else {
                Issue.record("no other challenge")
                return
            }
            let anew = AskedAction(
                id: asked.id, challenge: id, approveMessage: approve, rejectMessage: reject)
            #expect(try await world.bank.decide(world.command(.reject, anew, customer)).isDecided)
            #expect(
                try await told(world) == [
                    "action.created", "challenge.issued", "challenge.issued", "action.rejected",
                ])
        }
    }

    @Test func `of an action that has no attempt left`() async throws {
        try await DecisionWorld.with(connections: 2) { world in
            try await world.policy([
                "{attempts,per_challenge}": "1", "{attempts,per_action}": "1",
                "{attempts,per_customer}": "5",
            ])
            let customer = try await world.customer()
            let asked = try await world.ask(try Fixtures.transfer(), customer)
            _ = try await world.bank.decide(world.wrongCommand(asked, customer))
            #expect(try await told(world).suffix(2) == ["attempt.failed", "action.failed"])
        }
    }

    @Test func `of an order that core banking refuses`() async throws {
        try await DecisionWorld.with(connections: 2) { world in
            let customer = try await world.customer()
            try await world.approve(try Fixtures.transfer("10.00"), customer)
            let claim = try #require(
                try await world.queue.claim(limit: 1, lease: Seconds(60)).first)
            #expect(
                try await world.queue.settle(claim, .refused(reason: "no", raw: Bytes("{}".utf8))))
            #expect(try await told(world).last == "order.refused")
        }
    }

    @Test func `of a key that signs the log, or promises`() async throws {
        try await LogWorld.with { world in
            let keys = try await world.keys()
            for _ in 0..<2 { try await keys.announce([world.verifierKey.text], for: .checkpoints) }
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'log.key'") == 1)
            for _ in 0..<2 { try await keys.announce(["x/promise+1+A"], for: .promises) }
            #expect(
                try await world.count(
                    "SELECT count(*) FROM countersign.evidence WHERE kind = 'promise.key'") == 1)
        }
    }
}

@Suite struct `Partitions ahead` {
    @Test(
        arguments: [
            "DROP TABLE countersign.evidence_NAME",
            "ALTER TABLE countersign.evidence DETACH PARTITION countersign.evidence_NAME",
        ], [0, 1, 2])
    func `of this month and the next two are demanded, long before they are needed`(
        statement: String, months: Int
    ) async throws {
        try await DecisionWorld.with(connections: 2) { world in
            #expect(try await world.housekeeping.hasPartitions())
            try await world.test.sql(
                """
                DO $$ BEGIN EXECUTE replace('\(statement)', 'NAME',
                    to_char((clock_timestamp() AT TIME ZONE 'UTC') + interval '\(months) months', 'YYYY_MM')); END $$
                """)
            #expect(try await !world.housekeeping.hasPartitions())
        }
    }
}
