import Countersign
import Foundation
import TestSupport
import Testing

@testable import CountersignMain

/// The command for auditors, which asks nobody: no settings, no database and no network.
@Suite struct `The command that verifies a bundle` {
    private static let docs = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../docs").standardizedFileURL
    private let bundle = docs.appending(path: "bundle-vector.json").path
    private let policy = docs.appending(path: "bundle-vector.policy").path

    private func run(_ bundle: String, trust policy: String) async -> CountersignMain.ExitStatus {
        await Main.run(
            ["evidence", "verify-bundle", bundle, "--trust", policy], environment: [:],
            commands: Command.all)
    }

    @Test func `takes the vector that is published`() async {
        #expect(await run(bundle, trust: policy) == .success)
    }

    @Test func `fails for a bundle that was altered, and for files that are none`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-verify-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let altered = folder.appending(path: "altered").path
        let text = try RepositoryFiles.text("docs/bundle-vector.json")
        try TestBank.write(text.replacing("120.00", with: "121.00"), to: altered)
        #expect(await run(altered, trust: policy) == .failure)
        try TestBank.write(text + "\n", to: altered)
        #expect(await run(altered, trust: policy) == .failure)
        try TestBank.write(String(repeating: "{", count: 2_000_000), to: altered)
        #expect(await run(altered, trust: policy) == .failure)
        #expect(await run(altered + "x", trust: policy) == .failure)
        #expect(await run(bundle, trust: bundle) == .failure)
        #expect(await run(bundle, trust: altered + "x") == .failure)
        let trust = try RepositoryFiles.text("docs/bundle-vector.policy")
        try TestBank.write(trust.replacing("log ", with: "# log "), to: altered)
        #expect(await run(bundle, trust: altered) == .failure)
    }

    @Test func `is used with both files`() async {
        for words in [["evidence", "verify-bundle", bundle], ["evidence", "verify-bundle"]] {
            #expect(
                await Main.run(words, environment: [:], commands: Command.all) == .usage)
        }
    }

    @Test func `reads no settings`() {
        #expect(Command.evidenceVerifyBundle.settings == [])
    }
}
