import Countersign
import Crypto
import Evidence
import Foundation

@testable import CountersignMain

extension TestBank {
    /// What the service signs promises with.
    func promiseSigner() throws -> PromiseSigner {
        PromiseSigner(
            key: try Ed25519PrivateKey(
                pem: String(contentsOfFile: folder + "/promise.pem", encoding: .utf8)),
            origin: "bank.example/log", within: Seconds(3600))
    }

    /// A line as a caller keeps it.
    func line(_ promise: String?) -> String {
        String(
            decoding: JSON.object([.init("promise", .optional(promise))]).encoded, as: UTF8.self)
    }

    /// Runs the command that compares promises with the log.
    func checkPromises(
        _ lines: [String], _ keys: VerifierKey...
    ) async throws -> (ServiceProcess.Ending, String) {
        let file = folder + "/promises"
        try Self.write(lines.map { $0 + "\n" }.joined(), to: file)
        return try await run(
            ["evidence", "promises", file, "--key", keys.map(\.text).joined(separator: ",")],
            as: "countersign_auditor")
    }
}
