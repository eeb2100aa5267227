import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

/// Each rule of the verifier, broken once by whoever writes the log and signs it.
@Suite struct `A bundle that does not fit together` {
    /// What is wrong with the bundle of a story.
    private func fault(
        _ change: (inout BundleWorld.Story) -> Void
    ) async throws -> BundleFault? {
        let world = try await BundleWorld(nil, change)
        return try world.fault(world.bundle().encoded)
    }

    /// What is wrong when one record is another, in the log too.
    private func fault(
        _ role: BundleRole, _ alter: @escaping (EvidenceDraft) -> EvidenceDraft
    ) async throws -> BundleFault? {
        try await fault { $0.alter = { $0 == role ? alter($1) : $1 } }
    }

    private func fault(
        _ role: BundleRole, setting path: String, to value: JSON?
    ) async throws -> BundleFault? {
        try await fault(role) { $0.with(body: $0.body.setting(path, to: value)) }
    }

    @Test(
        arguments: [
            (.approved, "public_key", "AAAA", .record(.approved, .publicKey)),
            (.approved, "signed", .bool(false), .record(.approved, .unsigned)),
            (.approved, "message", "e30", .record(.approved, .message)),
            (.approved, "assertion.signature", "AAAA", .record(.approved, .signature)),
            (.approved, "profiles", ["x"], .record(.approved, .keyTraits)),
            (.approved, "policy.inputs.used_today", "99999999", .record(.approved, .verdict)),
            (.approved, "policy.verdict.outcome", "refused", .record(.approved, .verdict)),
            (.approved, "policy.digest", "00", .record(.approved, .policy)),
            (.approved, "policy", nil, .record(.approved, .policy)),
            (.approved, "enrolment_evidence_id", "x", .otherKey(.enrolled)),
            (.enrolled, "proof.signature", "AAAA", .record(.enrolled, .signature)),
            (.enrolled, "signature_format", "raw", .record(.approved, .notEnrolled)),
            (.policy, "document", "e30", .record(.policy, .policy)),
            (.policy, "active_from", "2026-01-05T10:00:01Z", .record(.approved, .policyInForce)),
            (.created, "action.transfer.amount", "120.01", .otherContent(.created)),
            (.created, "action.kind", "new_payee", .otherContent(.created)),
            (.created, "action.id", "x", .otherContent(.created)),
            (.created, "action.customer_id", "c-1002", .otherContent(.created)),
            (.executed, "raw", "", .noReceipt(.executed)),
            (.executed, "reference", nil, .noReceipt(.executed)),
        ] as [(BundleRole, String, JSON?, BundleFault)])
    func `is refused for the member that is wrong`(
        role: BundleRole, path: String, value: JSON?, expected: BundleFault
    ) async throws {
        #expect(try await fault(role, setting: path, to: value) == expected)
    }

    @Test func `is refused when a record is about something else`() async throws {
        for role in [BundleRole.created, .executed] {
            #expect(
                try await fault(role) { $0.about(action: Fixtures.id(77)) } == .otherAction(role))
        }
        #expect(
            try await fault(.enrolled) { $0.about(credential: Fixtures.id(77)) }
                == .otherKey(.enrolled))
        #expect(
            try await fault(.enrolled) { $0.about(action: Fixtures.id(77)) } == nil,
            "a chain more than is looked at")
        #expect(
            try await fault(.policy) { $0.about(action: Fixtures.id(77)) } == .otherAction(.policy))
        #expect(
            try await fault(.policy) { $0.about(policy: sha256([])) } == .record(.approved, .policy)
        )
        #expect(
            try await fault(.created) { $0.with(kind: .actionExpired) } == .otherKind(.created))
    }

    @Test func `is refused when a record is of another customer`() async throws {
        for role in [BundleRole.enrolled, .created, .executed] {
            let found = try await fault { $0.ofOther = role }
            #expect(found == .otherCustomer(role))
        }
    }

    @Test func `is refused with two decisions`() async throws {
        let found = try await fault { $0.following = [.rejected] }
        #expect(found == .noDecision)
    }

    @Test func `is refused without the body of the policy, which nobody erases`() async throws {
        let world = try await BundleWorld()
        var records = world.records
        let policy = try #require(records[.policy])
        records[.policy] = EvidenceBundle.Record(
            role: .policy, position: policy.position, leaf: policy.leaf, body: nil)
        #expect(
            try world.fault(world.bundle(records).encoded) == .record(.policy, .bodyMissing))
    }

    @Test func `is refused without the body of the policy, also when its customer was erased`()
        async throws
    {
        let world = try await BundleWorld { $0.following = [.executed, .erased] }
        let records = world.bare.mapValues { record in
            EvidenceBundle.Record(
                role: record.role, position: record.position, leaf: record.leaf, body: nil)
        }
        #expect(
            try world.fault(world.bundle(records).encoded) == .record(.policy, .bodyMissing))
    }

    /// Else whoever writes the log signs with a key of its own.
    @Test func `is refused when its signature is of no key that was enrolled`() async throws {
        let world = try await BundleWorld.signedByNobody()
        let records = world.records.filter { $0.key != .enrolled }
        #expect(try world.fault(world.bundle(records).encoded) == .missing(.enrolled))
    }

    @Test func `is refused without bodies when nobody was erased`() async throws {
        let world = try await BundleWorld()
        #expect(try world.fault(world.bundle(world.bare).encoded) == .missing(.erased))
        // Nor is anybody erased of whom there is everything.
        let erased = try await BundleWorld { $0.following = [.executed, .erased] }
        #expect(try erased.fault(erased.bundle().encoded) == .unexpected(.erased))
    }

    @Test func `is refused without bodies when it was another who was erased`() async throws {
        let drafts: [EvidenceDraft] = [
            BundleWorld.erasure(of: Fixtures.id(11)),
            BundleWorld.erasure(of: EvidenceSealer.serviceSubject),
            EvidenceDraft(.subjectErased, outcome: nil, body: [:]),
        ]
        for draft in drafts {
            let world = try await BundleWorld {
                $0.following = [.executed, .erased]
                $0.alter = { $0 == .erased ? draft : $1 }
            }
            #expect(
                try world.fault(world.bundle(world.bare).encoded) == .otherCustomer(.erased))
        }
        // What a customer's own record says of an erasure is none.
        let own = try await BundleWorld {
            $0.following = [.executed, .erased]
            $0.ofOther = .erased
        }
        #expect(try own.fault(own.bundle(own.bare).encoded) == .otherCustomer(.erased))
        // Nor does the right record serve that is in the log of another bundle.
        let right = try await BundleWorld { $0.following = [.executed, .erased] }
        let none = try await BundleWorld()
        var records = none.bare
        records[.erased] = right.records[.erased]
        #expect(try none.fault(none.bundle(records).encoded) == .notInLog(.erased))
    }

    @Test func `is refused when something came after its customer was erased`() async throws {
        let world = try await BundleWorld { $0.following = [.erased, .executed] }
        #expect(
            try world.fault(world.bundle(world.bare).encoded) == .record(.executed, .afterErasure))
    }

    @Test func `is refused when the decision came first`() async throws {
        for role in [BundleRole.enrolled, .policy, .created] {
            let found = try await fault { $0.late = role }
            #expect(found == .notBefore(role))
        }
    }

    @Test func `is refused when a hold did not last`() async throws {
        #expect(try await fault { $0.isHeld = true } == .record(.executed, .hold))
        #expect(
            try await fault { $0.following = [.released, .executed] } == .record(.released, .hold))
        #expect(
            try await fault { $0.following = [.cancelled, .executed] } == .record(.executed, .hold))
        #expect(
            try await fault { $0.following = [.executed, .notExecuted] }
                == .record(.notExecuted, .hold))
        let held = try await fault {
            $0.isHeld = true
            $0.following = []
            $0.alter = {
                $0 == .held ? $1.with(body: $1.body.setting("hold.until", to: "x")) : $1
            }
        }
        #expect(held == .otherContent(.held))
    }

    @Test func `is refused when something follows a rejection`() async throws {
        let found = try await fault { $0.decision = .reject }
        #expect(found == .unexpected(.executed))
    }

    @Test func `is refused by those who know another log`() async throws {
        #expect(try await fault { $0.origin = "log.bank.test" } == .otherLog(.enrolled))
        let world = try await BundleWorld()
        let other = try await BundleWorld { $0.origin = "log.bank.test" }
        #expect(try other.fault(world.bundle().encoded) == .checkpoint(.unknownLog))
    }

    @Test func `is refused without a record that it must have`() async throws {
        let world = try await BundleWorld()
        for (role, expected) in [
            (.enrolled, .missing(.enrolled)), (.policy, .missing(.policy)),
            (.created, .missing(.created)), (.approved, .noDecision), (.executed, nil),
        ] as [(BundleRole, BundleFault?)] {
            var records = world.records
            records[role] = nil
            #expect(try world.fault(world.bundle(records).encoded) == expected)
        }
    }

    @Test func `is refused with a record of another bundle`() async throws {
        let world = try await BundleWorld()
        let other = try await BundleWorld()
        for role in [BundleRole.enrolled, .created, .approved] {
            var records = world.records
            records[role] = other.records[role]
            #expect(try world.fault(world.bundle(records).encoded) == .notInLog(role))
        }
        // The body of another record.
        for (from, to) in [(BundleRole.created, BundleRole.approved), (.approved, .created)] {
            let taken = try #require(world.records[from])
            let record = try #require(world.records[to])
            var records = world.records
            records[to] = EvidenceBundle.Record(
                role: to, position: record.position, leaf: record.leaf, body: taken.body)
            #expect(try world.fault(world.bundle(records).encoded) == .record(to, .body))
        }
    }

    /// The salt and the body are hashed one after the other, so that only its length says where a salt ends.
    @Test func `is refused with a salt of another length`() async throws {
        let world = try await BundleWorld.withSaltsOfSpaces()
        #expect(try world.fault(world.bundle().encoded) == nil)
        #expect(try world.fault(world.withShortSalt(.approved)) == .record(.approved, .body))
    }

    @Test func `is refused when a link of a chain does not fit`() async throws {
        let forked = try await fault { $0.isForked = true }
        #expect(forked == .record(.executed, .chain))
        let continued = try await fault { $0.continued = .created }
        #expect(continued == .record(.created, .chain))
        let reenrolled = try await fault { $0.continued = .enrolled }
        #expect(reenrolled == .record(.enrolled, .chain))
        let early = try await fault { $0.isNumberedBefore = true }
        #expect(early == .record(.executed, .chain))
    }

    @Test func `is refused with a timestamp that is not believed`() async throws {
        let world = try await BundleWorld()
        let bundle = try world.bundle(timestamps: [[1], [2]])
        let note = try #require(try world.checkpoint().byLogAlone)
        #expect(throws: BundleFault.timestamp(2, .imprint)) {
            try world.verify(bundle.encoded) { token, signed throws(TimestampFault) in
                guard token == [1], signed == note.encoded else { throw .imprint }
                return ProvenTimestamp(at: Fixtures.at, authority: "CN=tsa", policy: "1.2.3")
            }
        }
        #expect(note.signatures.count == 1)
    }
}

extension EvidenceDraft {
    /// The same draft about something else.
    fileprivate func about(
        action: ID<Action>? = nil, credential: ID<Credential>? = nil, policy: Digest? = nil
    ) -> EvidenceDraft {
        EvidenceDraft(
            kind, action: action ?? self.action, credential: credential ?? self.credential,
            policy: policy ?? self.policy, outcome: outcome, body: body)
    }
}
