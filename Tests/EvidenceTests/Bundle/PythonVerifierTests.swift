import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

/// The second verifier, `docs/verify-bundle.py`, written independently: it says the same of the same bundles.
@Suite(.onAThreadOfItsOwn) struct `The verifier in Python` {
    private let verifier: PythonVerifier

    init() throws { verifier = try PythonVerifier() }

    private func run(_ bundle: Bytes, _ policy: Bytes) throws -> (isValid: Bool, text: String) {
        try verifier.run(bundle, policy)
    }

    @Test func `has at most 120 lines`() throws {
        let text = try String(contentsOf: PythonVerifier.script, encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
    }

    @Test(arguments: [CredentialKind.deviceKey, .passkey])
    func `takes what is good`(credential: CredentialKind) async throws {
        for (decision, isHeld, following) in [
            (.approve, false, [.executed]), (.approve, true, [.released, .executed]),
            (.approve, true, [.cancelled]), (.approve, false, [.notExecuted]), (.reject, false, []),
        ] as [(SignedDecision, Bool, [BundleRole])] {
            let world = try await BundleWorld {
                $0.credential = credential
                $0.decision = decision
                $0.isHeld = isHeld
                $0.following = following
            }
            let bytes = try world.bundle().encoded
            #expect(try world.fault(bytes) == nil)
            let (isValid, text) = try run(bytes, world.policyText)
            #expect(isValid && text.hasSuffix("VALID\n"), "\(text)")
        }
    }

    @Test func `refuses a bundle of which one body was left out`() async throws {
        let world = try await BundleWorld()
        for role in [BundleRole.enrolled, .created] {
            let stripped = world.records.mapValues { record in
                EvidenceBundle.Record(
                    role: record.role, position: record.position, leaf: record.leaf,
                    body: record.role == role ? nil : record.body)
            }
            let (isValid, text) = try run(world.bundle(stripped).encoded, world.policyText)
            #expect(!isValid && text.contains("left out"), "\(text)")
        }
    }

    @Test func `takes what is erased, and says that no signature was there`() async throws {
        let world = try await BundleWorld { $0.following = [.executed, .erased] }
        let (isValid, text) = try run(world.bundle(world.bare).encoded, world.policyText)
        #expect(isValid && text.contains("no signature of the customer"), "\(text)")
    }

    @Test func `refuses what has no bodies unless its customer was erased, as the other does`()
        async throws
    {
        let complete = try await BundleWorld { $0.following = [.executed, .erased] }
        let untold = try await BundleWorld()
        var refused = [
            (complete, try complete.bundle().encoded),
            (complete, try complete.withBodyOfErasure()),
            (untold, try untold.bundle(untold.bare).encoded),
        ]
        let changes: [(inout BundleWorld.Story) -> Void] = [
            { $0.alter = { $0 == .erased ? BundleWorld.erasure(of: Fixtures.id(11)) : $1 } },
            { $0.ofOther = .erased }, { $0.following = [.erased, .executed] },
        ]
        for change in changes {
            let world = try await BundleWorld {
                $0.following = [.executed, .erased]
                change(&$0)
            }
            refused.append((world, try world.bundle(world.bare).encoded))
        }
        for (index, (world, bytes)) in refused.enumerated() {
            #expect(try world.fault(bytes) != nil, "\(index)")
            let (isValid, text) = try run(bytes, world.policyText)
            #expect(!isValid, "\(index): \(text)")
        }
    }

    @Test func `refuses what does not fit together, as the other does`() async throws {
        let changes: [(inout BundleWorld.Story) -> Void] = [
            { $0.late = .enrolled }, { $0.late = .policy }, { $0.late = .created },
            { $0.continued = .created }, { $0.continued = .enrolled },
            { $0.isNumberedBefore = true }, { $0.isForked = true },
            { $0.origin = "log.bank.test" }, { $0.decision = .reject },
            { $0.alter = Self.set(.approved, "assertion.signature", "AAAA") },
            { $0.alter = Self.set(.approved, "message", "e30") },
            { $0.alter = Self.set(.approved, "signed", .bool(false)) },
            { $0.alter = Self.set(.approved, "policy.digest", "00") },
            { $0.alter = Self.set(.enrolled, "public_key", "AAAA") },
            { $0.alter = Self.set(.policy, "document", "e30") },
            { $0.alter = Self.set(.created, "action.customer_id", "c-1002") },
            { $0.alter = Self.set(.policy, "active_from", "2026-01-05T10:00:01Z") },
            { $0.alter = Self.set(.approved, "policy.inputs.at", "2026-01-05T10:00:01Z") },
            { $0.alter = Self.set(.executed, "raw", "") },
            { $0.alter = Self.set(.executed, "reference", nil) },
            {
                $0.following = [.notExecuted]
                $0.alter = Self.set(.notExecuted, "reason", nil)
            },
            { $0.alter = { $0 == .approved ? $1.with(body: [:]) : $1 } },
        ]
        for (index, change) in changes.enumerated() {
            let world = try await BundleWorld(nil, change)
            let bytes = try world.bundle().encoded
            #expect(try world.fault(bytes) != nil, "\(index)")
            let (isValid, text) = try run(bytes, world.policyText)
            #expect(!isValid, "\(index): \(text)")
        }
    }

    private static func set(
        _ role: BundleRole, _ path: String, _ value: JSON?
    ) -> (BundleRole, EvidenceDraft) -> EvidenceDraft {
        { $0 == role ? $1.with(body: $1.body.setting(path, to: value)) : $1 }
    }

    @Test func `refuses what was left out or respelled, as the other does`() async throws {
        let nobody = try await BundleWorld.signedByNobody()
        let erased = try await BundleWorld { $0.following = [.executed, .erased] }
        let withoutPolicy = erased.bare.mapValues { record in
            EvidenceBundle.Record(
                role: record.role, position: record.position, leaf: record.leaf, body: nil)
        }
        let spaces = try await BundleWorld.withSaltsOfSpaces()
        let whole = try await BundleWorld()
        let refused = [
            (nobody, try nobody.bundle(nobody.records.filter { $0.key != .enrolled }).encoded),
            (erased, try erased.bundle(withoutPolicy).encoded),
            (spaces, try spaces.withShortSalt(.approved)),
            (whole, try Self.reordered(whole.bundle())),
        ]
        for (index, (world, bytes)) in refused.enumerated() {
            #expect(try world.fault(bytes) != nil, "\(index)")
            let (isValid, text) = try run(bytes, world.policyText)
            #expect(!isValid, "\(index): \(text)")
        }
        #expect(try run(spaces.bundle().encoded, spaces.policyText).isValid)
    }

    /// The same entries, the last one first.
    private static func reordered(_ bundle: EvidenceBundle) throws -> Bytes {
        let json = try #require(JSON(recorded: bundle.encoded))
        guard case .object(var entries)? = json["entries"] else { return [] }
        entries.insert(entries.removeLast(), at: 0)
        return json.setting("entries", to: .object(entries)).encoded
    }

    @Test(arguments: [
        "group both 0 zzz", "group both 0 a b", "group both 3 a b", "group both 1 a zzz",
        "group both 01 a b", "group both 1 none", "group both 1 both",
    ])
    func `refuses a group that the other refuses`(group: String) async throws {
        let world = try await BundleWorld()
        let text = String(decoding: world.policyText, as: UTF8.self)
        let policy = Bytes(text.replacing("group both all a b", with: group).utf8)
        #expect(throws: TrustPolicyFault.self) { try TrustPolicy(text: policy) }
        let (isValid, said) = try run(world.bundle().encoded, policy)
        #expect(!isValid, "\(said)")
    }

    /// Else one witness is a quorum of two.
    @Test func `refuses one key as two witnesses, as the other does`() async throws {
        let world = try await BundleWorld()
        let lines = String(decoding: world.policyText, as: UTF8.self).split(separator: "\n")
        let key = try #require(lines[1].split(separator: " ").last)
        let policy = Bytes(
            [lines[0], lines[1], "witness b \(key)", lines[3], lines[4], ""]
                .joined(separator: "\n").utf8)
        #expect(throws: TrustPolicyFault.self) { try TrustPolicy(text: policy) }
        let (isValid, text) = try run(world.bundle().encoded, policy)
        #expect(!isValid && text.contains("twice"), "\(text)")
    }

    @Test func `says that no timestamp is there`() async throws {
        let world = try await BundleWorld()
        let none = "no timestamp is in this bundle"
        for authority in [nil, "no certificate"] {
            let (isValid, text) = try verifier.run(
                world.bundle().encoded, world.policyText, authority: authority)
            #expect(isValid && text.contains(none), "\(text)")
        }
        let stamped = try run(world.bundle(timestamps: [[1], [2]]).encoded, world.policyText)
        #expect(stamped.isValid && stamped.text.contains("timestamps, not checked: 2"))
        #expect(!stamped.text.contains(none))
    }

    @Test func `refuses each of 120 altered bytes`() async throws {
        let world = try await BundleWorld { $0.credential = .passkey }
        let bytes = try world.bundle().encoded
        var generator = try SeededGenerator()
        var accepted: [String] = []
        for _ in 0..<120 {
            let (index, byte) = generator.alteration(of: bytes)
            var altered = bytes
            altered[index] = byte
            if try run(altered, world.policyText).isValid {
                accepted.append("\(index): \(bytes[index]) became \(byte)")
            }
        }
        // The keys are new in each run, so that the seed alone does not bring the bundle back.
        #expect(accepted == [], "\(generator), of \(String(decoding: bytes, as: UTF8.self))")
    }
}
