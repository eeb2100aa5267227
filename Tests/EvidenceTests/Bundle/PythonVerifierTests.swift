import Countersign
import Crypto
import Evidence
import Foundation
import TestSupport
import Testing

/// The second verifier, `docs/verify-bundle.py`, written independently: it says the same of the same bundles.
@Suite struct `The verifier in Python` {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../docs/verify-bundle.py").standardizedFileURL
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Whether it takes the bundle, and what it says.
    private func run(_ bundle: Bytes, _ policy: Bytes) throws -> (isValid: Bool, text: String) {
        let name = UUID().uuidString
        let files = [bundle, policy].enumerated().map { index, bytes in
            (folder.appending(path: "\(name)-\(index)"), bytes)
        }
        for (file, bytes) in files { try Data(bytes).write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-B", Self.script.path] + files.map(\.0.path)
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let text = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        for (file, _) in files { try FileManager.default.removeItem(at: file) }
        return (process.terminationStatus == 0, String(decoding: text, as: UTF8.self))
    }

    @Test func `has at most 120 lines`() throws {
        let text = try String(contentsOf: Self.script, encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
    }

    @Test(arguments: [CredentialKind.deviceKey, .passkey])
    func `takes what is good`(credential: CredentialKind) async throws {
        defer { remove() }
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
        defer { remove() }
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
        defer { remove() }
        let world = try await BundleWorld { $0.following = [.executed, .erased] }
        let (isValid, text) = try run(world.bundle(world.bare).encoded, world.policyText)
        #expect(isValid && text.contains("no signature of the customer"), "\(text)")
    }

    @Test func `refuses what has no bodies unless its customer was erased, as the other does`()
        async throws
    {
        defer { remove() }
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
        defer { remove() }
        let changes: [(inout BundleWorld.Story) -> Void] = [
            { $0.late = .enrolled }, { $0.late = .policy }, { $0.late = .created },
            { $0.origin = "log.bank.test" }, { $0.decision = .reject },
            { $0.alter = Self.set(.approved, "assertion.signature", "AAAA") },
            { $0.alter = Self.set(.approved, "message", "e30") },
            { $0.alter = Self.set(.approved, "signed", .bool(false)) },
            { $0.alter = Self.set(.approved, "policy.digest", "00") },
            { $0.alter = Self.set(.enrolled, "public_key", "AAAA") },
            { $0.alter = Self.set(.policy, "document", "e30") },
            { $0.alter = Self.set(.created, "action.customer_id", "c-1002") },
            { $0.alter = Self.set(.executed, "raw", "") },
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
        _ role: BundleRole, _ path: String, _ value: JSON
    ) -> (BundleRole, EvidenceDraft) -> EvidenceDraft {
        { $0 == role ? $1.with(body: $1.body.setting(path, to: value)) : $1 }
    }

    @Test func `refuses each of 120 altered bytes`() async throws {
        defer { remove() }
        let world = try await BundleWorld { $0.credential = .passkey }
        let bytes = try world.bundle().encoded
        var accepted: [String] = []
        for _ in 0..<120 {
            let index = Int.random(in: bytes.indices)
            var altered = bytes
            altered[index] ^= UInt8.random(in: 1...255)
            if try run(altered, world.policyText).isValid {
                accepted.append("\(index): \(bytes[index]) became \(altered[index])")
            }
        }
        #expect(accepted == [])
    }

    private func remove() {
        do { try FileManager.default.removeItem(at: folder) } catch {
            print("left behind: \(folder.path)")
        }
    }
}
