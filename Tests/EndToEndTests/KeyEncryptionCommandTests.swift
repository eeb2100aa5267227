import Foundation
import Testing

@testable import CountersignMain

/// `evidence.key_encryption_command`, over real processes and a real database.
@Suite(.timeLimit(.minutes(5))) struct `A key-encryption key from a program` {
    @Test func `opens what was sealed with the same key from a file`() async throws {
        try await withBank { bank in
            let program = bank.folder + "/vault"
            try TestBank.write(
                "#!/bin/sh\nexec cat '\(bank.folder)/kek'\n", to: program, mode: 0o700)
            try bank.takeKey(fromProgram: program)
            let service = try await bank.serve()
            let customer = try await bank.customer("c-1", at: service)
            let paid = try await InsistentClient(Shift(service)).pay(from: customer, key: "k-1")
            // The command asks the program too.
            let shown = try await bank.run(
                ["evidence", "show", paid.evidence], as: "countersign_auditor")
            #expect(shown.0 == .exited(0) && shown.1.contains("c-1"), "\(shown.1)")
            // What was sealed before with the key from the file opens as well.
            let verified = try await bank.run(["evidence", "verify"], as: "countersign_auditor")
            #expect(verified.0 == .exited(0), "\(verified.1)")
        }
    }

    @Test func `that is another one keeps the service from starting`() async throws {
        try await withBank { bank in
            let program = bank.folder + "/vault"
            try TestBank.write("#!/bin/sh\nprintf %064d 7\n", to: program, mode: 0o700)
            try bank.takeKey(fromProgram: program)
            let (ending, text) = try await bank.run(["serve"], as: "countersign_service")
            #expect(ending == .exited(1))
            #expect(text.contains("is not the one that the evidence of this database"))
        }
    }

    @Test func `that fails keeps the service from starting`() async throws {
        try await withBank { bank in
            let program = bank.folder + "/vault"
            try TestBank.write("#!/bin/sh\necho sealed >&2\nexit 2\n", to: program, mode: 0o700)
            try bank.takeKey(fromProgram: program)
            let (ending, text) = try await bank.run(["serve"], as: "countersign_service")
            #expect(ending == .exited(ExitStatus.usage.rawValue))
            #expect(text.contains("the program of the setting evidence.key_encryption_command"))
            #expect(!text.contains("sealed"))
        }
    }
}

extension TestBank {
    /// Puts a program in the place of the file with the key.
    fileprivate func takeKey(fromProgram program: String) throws {
        let lines = try String(contentsOfFile: configurationFile, encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("evidence.key_encryption_key") }
        let setting = "evidence.key_encryption_command = \(program)\n"
        try Self.write(lines.joined(separator: "\n") + "\n" + setting, to: configurationFile)
    }
}
