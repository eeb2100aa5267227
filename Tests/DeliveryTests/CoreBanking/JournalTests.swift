import Countersign
import Crypto
import Delivery
import Foundation
import Testing

@testable import CountersignMain

@Suite struct `The stand-in's journal` {
    @Test func `gives back what was booked and refused`() async throws {
        try await withPath { path in
            let other = ID<Action>(at: Fixture.now, random: Bytes(repeating: 9, count: 10))
            do {
                let ledger = try Ledger(path: path)
                _ = try await book(ledger, Fixture.actionID, .failure(.signatureInvalid))
                _ = try await book(ledger, other, .success(content()))
                try await ledger.close()
            }
            let ledger = try Ledger(path: path)
            #expect(
                await ledger.booking(Fixture.actionID)?.receipt
                    == .refused(reason: "signature_invalid"))
            #expect(await ledger.booking(other)?.receipt == .executed(reference: "CB-1"))
            let third = ID<Action>(at: Fixture.now, random: Bytes(repeating: 8, count: 10))
            guard case .decided(let booking) = try await book(ledger, third, .success(content()))
            else {
                Issue.record("not decided")
                return
            }
            #expect(booking.receipt == .executed(reference: "CB-2"))
        }
    }

    @Test func `cuts off a line that was never finished`() async throws {
        try await withPath { path in
            do {
                let ledger = try Ledger(path: path)
                _ = try await book(ledger, Fixture.actionID, .success(content()))
                try await ledger.close()
            }
            let whole = try #require(FileManager.default.contents(atPath: path))
            try (whole + Data("{\"booking\":{\"acti".utf8)).write(to: URL(filePath: path))
            do {
                let ledger = try Ledger(path: path)
                #expect(await ledger.booking(Fixture.actionID) != nil)
                try await ledger.close()
            }
            #expect(FileManager.default.contents(atPath: path) == whole)
        }
    }

    @Test func `is not opened when it is damaged`() async throws {
        try await withPath { path in
            do {
                let ledger = try Ledger(path: path)
                _ = try await book(ledger, Fixture.actionID, .success(content()))
                try await ledger.close()
            }
            let line = try #require(FileManager.default.contents(atPath: path))
            let text = String(decoding: line, as: UTF8.self)
            let damaged = [
                "\n" + "{}\n" + text, "x" + text, text + text,
                text.replacing("\"executed\"", with: "\"exempted\""),
                text.replacing("CB-1", with: ""),
            ]
            for content in damaged {
                try Data(content.utf8).write(to: URL(filePath: path))
                #expect(throws: JournalFailure.self, "\(content)") { try Ledger(path: path) }
                #expect(
                    FileManager.default.contents(atPath: path) == Data(content.utf8),
                    "damage is left as it is")
            }
        }
    }

    @Test func `has one owner at a time, and is for its owner's eyes`() async throws {
        try await withPath { path in
            let ledger = try Ledger(path: path)
            #expect(throws: JournalFailure.self) { try Ledger(path: path) }
            try await ledger.close()
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `decides nothing once it is closed`() async throws {
        try await withPath { path in
            let ledger = try Ledger(path: path)
            try await ledger.close()
            await #expect(throws: JournalFailure.self) {
                try await book(ledger, Fixture.actionID, .success(content()))
            }
            #expect(await ledger.booking(Fixture.actionID) == nil)
            try await Ledger(path: path).close()
        }
    }

    @Test func `cannot be opened where there is no folder`() {
        #expect(throws: JournalFailure.self) { try Ledger(path: "/nonexistent/journal") }
    }

    private func content() throws -> ActionContent {
        try #require(SignedMessage(decoding: Fixture.message())).content
    }

    private func book(
        _ ledger: Ledger, _ id: ID<Action>, _ verdict: Result<ActionContent, OrderJudge.Refusal>
    ) async throws -> Ledger.Entry {
        try await ledger.book(id, digest: sha256([1]), at: Fixture.now, verdict: verdict)
    }

    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "countersign-journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await body(folder.appending(path: "journal").path)
        try FileManager.default.removeItem(at: folder)
    }
}
