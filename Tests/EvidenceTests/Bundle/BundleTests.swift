import Countersign
import Crypto
import Evidence
import TestSupport
import Testing

@Suite struct `A bundle` {
    @Test(arguments: [CredentialKind.deviceKey, .passkey], ActionKind.allCases)
    func `proves what the customer signed, of every kind and with either key`(
        credential: CredentialKind, kind: ActionKind
    ) async throws {
        for decision in [SignedDecision.approve, .reject] {
            let world = try await BundleWorld(Fixtures.content(kind)) {
                $0.credential = credential
                $0.decision = decision
                $0.following = []
            }
            let verified = try world.verify(world.bundle().encoded)
            #expect(verified.isSignatureVerified)
            #expect(verified.outcome == (decision == .approve ? "approved" : "rejected"))
        }
    }

    @Test func `proves what the policy refused`() async throws {
        let world = try await BundleWorld(Fixtures.transfer("500.01")) { $0.following = [] }
        let verified = try world.verify(world.bundle().encoded)
        #expect(verified.outcome == "refused")
        #expect(verified.isSignatureVerified)
    }

    @Test func `tells in sentences what it proves`() async throws {
        let world = try await BundleWorld {
            $0.isHeld = true
            $0.following = [.released, .executed]
        }
        let bundle = try world.bundle(timestamps: [[1], [2]])
        let verified = try world.verify(bundle.encoded) { token, _ throws(TimestampFault) in
            ProvenTimestamp(
                at: Fixtures.at + Seconds(Int64(token[0])), authority: "CN=tsa", policy: "1.2.3")
        }
        let text = verified.sentences.joined(separator: "\n")
        for sentence in [
            "The log log.bank.example signed its checkpoint of size 628, cosigned by a at "
                + "2026-01-05T10:00:00Z, cosigned by b at 2026-01-05T10:00:00Z, timestamped by "
                + "CN=tsa at 2026-01-05T10:00:01Z, timestamped by CN=tsa at 2026-01-05T10:00:02Z.",
            "Position 600 of 628: version 3 of the policy was published at 2026-01-04T10:00:00Z, "
                + "signed by nobody",
            "Position 601 of 628: the device_key", "was enrolled at 2026-01-05T08:00:00Z",
            "Position 602 of 628: the action", "was created at 2026-01-05T09:59:58Z.",
            "Position 604 of 628: approved at 2026-01-05T10:00:00Z: the customer c-1001 signed with "
                + "that device_key, and the signature verifies: transfer, amount “120.00”",
            "payee_name “Erika Mustermann”",
            "Position 605 of 628: held from 2026-01-05T10:00:00Z until 2026-01-05T11:00:00Z.",
            "Position 606 of 628: released at 2026-01-05T11:06:40Z.",
            "Position 607 of 628: core banking executed it under CB-2026-17",
        ] {
            #expect(text.contains(sentence), "\(sentence)\n\(text)")
        }
        #expect(
            try world.verify(bundle.encoded).sentences.contains(
                "Timestamps that were not checked, since no authority was named to believe: 2."))
    }

    @Test func `says when nobody has signed a rejection`() async throws {
        let world = try await BundleWorld {
            $0.decision = .reject
            $0.following = []
            $0.alter = { role, draft in
                guard role == .rejected else { return draft }
                return EvidenceDraft(
                    .actionRejected, action: draft.action, outcome: "rejected",
                    body: ["signed": .bool(false), "reason": "by_customer"])
            }
        }
        #expect(try world.fault(world.bundle().encoded) == .unexpected(.enrolled))
        let records = world.records.filter { $0.key != .enrolled }
        let verified = try world.verify(world.bundle(records).encoded)
        #expect(!verified.isSignatureVerified)
        #expect(verified.sentences.contains { $0.hasSuffix(", without a signature.") })
    }

    @Test func `says that core banking's answer is not there`() async throws {
        let world = try await BundleWorld { $0.following = [] }
        let sentences = try world.verify(world.bundle().encoded).sentences
        #expect(sentences.contains("No answer of core banking is in this bundle."))
    }

    @Test func `says that no timestamp is there, whether or not anybody would be believed`()
        async throws
    {
        let world = try await BundleWorld()
        let bytes = try world.bundle().encoded
        let none = "No timestamp is in this bundle."
        let verified = try world.verify(bytes) { _, _ throws(TimestampFault) in throw .signer }
        #expect(verified.sentences.contains(none))
        #expect(try world.verify(bytes).sentences.contains(none))
        let stamped = try world.bundle(timestamps: [[1]]).encoded
        #expect(try !world.verify(stamped).sentences.contains(none))
    }

    /// A customer who was erased: the proofs stay valid, and what cannot be checked is said.
    @Test func `still proves that erased records are in the log`() async throws {
        let world = try await BundleWorld { $0.following = [.executed, .erased] }
        let bundle = try world.bundle(world.bare)
        let verified = try world.verify(bundle.encoded)
        #expect(!verified.isSignatureVerified)
        let said = verified.sentences.filter { $0.contains("Its body was erased") }
        #expect(said.count == 4)
        #expect(
            verified.sentences.contains {
                $0.hasPrefix("Position 606 of 627: the customer was erased at 2026-01-05T11:06:41Z")
            })
        #expect(bundle.encoded.count < 20_480)
    }

    /// Its leaf says who was erased, and nothing says more than a stranger needs.
    @Test func `holds no body of an erasure, and is none with one`() async throws {
        let world = try await BundleWorld { $0.following = [.executed, .erased] }
        var records = world.bare
        records[.erased] = world.records[.erased]
        #expect(try #require(world.bundle(records).entries[.erased]).body == nil)
        #expect(try world.fault(world.withBodyOfErasure()) == .form)
    }

    @Test(arguments: [BundleRole.enrolled, .created, .approved, .executed])
    func `proves nothing when one body was left out`(role: BundleRole) async throws {
        let world = try await BundleWorld()
        let stripped = world.records.mapValues { record in
            EvidenceBundle.Record(
                role: record.role, position: record.position, leaf: record.leaf,
                body: record.role == role ? nil : record.body)
        }
        #expect(throws: BundleFault.stripped(role)) {
            try world.verify(world.bundle(stripped).encoded)
        }
    }

    @Test func `holds the file of a proof of inclusion for each record`() async throws {
        let world = try await BundleWorld()
        let bundle = try world.bundle()
        // A stranger forms it from two texts of the bundle.
        let json = try #require(JSON(recorded: bundle.encoded))
        let head = try #require(json["entries"]?["approved"]?["proof"]?.text)
        let note = try #require(json["checkpoint"]?.text)
        let proof = try #require(InclusionProofFile(decoding: Bytes((head + note).utf8)))
        let checkpoint = try #require(Checkpoint(text: proof.checkpoint.text))
        let leaf = try #require(bundle.entries[.approved]?.leaf)
        #expect(
            TreeProof.root(
                of: EvidenceSealer.leafHash(leaf), at: proof.index, in: checkpoint.size,
                by: proof.hashes) == checkpoint.root)
    }

    @Test func `is not made of a record or a tile that the log does not have`() async throws {
        let world = try await BundleWorld()
        let checkpoint = try world.checkpoint()
        let records = Array(world.records.values)
        let none = EvidenceBundle(records, timestamps: [], checkpoint: checkpoint) { _ in nil }
        #expect(none == nil)
        let twice = EvidenceBundle(
            records + [records[0]], timestamps: [], checkpoint: checkpoint
        ) { _ in Array(repeating: sha256([]), count: 256) }
        #expect(twice == nil)
    }
}
