import Countersign
import Crypto
import Evidence
import Foundation
import Postgres

extension Command {
    static let evidenceReconcile = Command(
        name: "evidence reconcile",
        summary: "Compare what was executed with core banking's list, both ways (as "
            + "countersign_auditor)",
        positionals: [
            .init(name: "FILE", what: "one JSON object a line, in the order of action_id")
        ],
        options: [
            .init(name: "from", placeholder: "TIME", what: "approved not before this time"),
            .init(name: "until", placeholder: "TIME", what: "approved before this time"),
        ],
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        let from = try time(invocation, "from")
        let until = try time(invocation, "until")
        guard let file = LineReader(path: invocation.positionals[0]) else {
            throw CommandFailure("the file \(invocation.positionals[0]) cannot be read")
        }
        let (sealer, keyEncryption) = try invocation.configuration.evidenceKeys()
        try await invocation.configuration.withDatabase(statementDeadline: Configuration.patience) {
            database in
            let service = ServiceSubject(
                database: database, sealer: sealer, keyEncryption: keyEncryption, entropy: .openSSL)
            try await reconcile(
                PostgresReconciliation(database: database, service: service), file, from, until)
        }
    }

    private static func reconcile(
        _ store: PostgresReconciliation, _ file: LineReader, _ from: Instant?, _ until: Instant?
    ) async throws {
        try await store.record(from: from, until: until)
        var reconciliation = Reconciliation()
        var page = try await store.page(after: nil, from: from, until: until)[...]
        var booking = try file.booking(after: nil)
        var differences = 0
        while page.first != nil || booking != nil {
            let (difference, takesHere, takesThere) = reconciliation.compare(page.first, booking)
            if let difference {
                differences += 1
                Console.out(difference.line)
            }
            if takesHere, let last = page.popFirst(), page.isEmpty {
                page = try await store.page(after: last.action, from: from, until: until)[...]
            }
            if takesThere { booking = try file.booking(after: booking?.action) }
        }
        Console.out(
            "\(reconciliation.executed) executed here, \(reconciliation.same) the same there, "
                + "\(differences) differences")
        guard differences == 0 else { throw CommandFailure("the lists differ") }
    }

    private static func time(
        _ invocation: Invocation, _ name: String
    ) throws(UsageError) -> Instant? {
        guard let text = invocation.option(name) else { return nil }
        guard let instant = Instant(text: text) else {
            throw UsageError("--\(name) is not a time as 2026-01-31T00:00:00Z")
        }
        return instant
    }
}

/// Reads a file line by line, of which one and a piece are in memory.
final class LineReader {
    private static let pieceBytes = 65_536
    /// Nobody's booking is longer.
    private static let lineBytesMax = 65_536

    private let file: FileHandle
    private var rest: [UInt8] = []
    private var isAtEnd = false
    private var number = 0

    /// `nil` for what cannot be read.
    init?(path: String) {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        self.file = file
    }

    /// The next line without its end; `nil` after the last.
    ///
    /// - Throws: ``CommandFailure``, or what the system says.
    func line() throws -> Bytes? {
        while true {
            if let end = rest.firstIndex(of: 0x0A) {
                let line = Bytes(rest[..<end])
                rest.removeSubrange(...end)
                number += 1
                return line
            }
            if isAtEnd {
                guard !rest.isEmpty else { return nil }
                defer { rest = [] }
                number += 1
                return rest
            }
            guard rest.count <= Self.lineBytesMax else {
                throw CommandFailure("line \(number + 1) is too long")
            }
            if let piece = try file.read(upToCount: Self.pieceBytes), !piece.isEmpty {
                rest += piece
            } else {
                isAtEnd = true
            }
        }
    }

    /// The next booking, which comes after that of another action.
    ///
    /// - Throws: ``CommandFailure`` for a line that is none, or in the wrong place.
    func booking(after last: ID<Action>?) throws -> Reconciliation.Booking? {
        guard let line = try line() else { return nil }
        guard let booking = Reconciliation.Booking(line) else {
            throw CommandFailure(
                "line \(number) is no JSON object with action_id and status (executed or refused), and, as texts, "
                    + "evidence_id, reference, amount with currency"
            )
        }
        if let last, booking.action.rawValue <= last.rawValue {
            throw CommandFailure(
                "line \(number) is not in the order of action_id, each once; with action_id as first "
                    + "member, sort -u does that")
        }
        return booking
    }
}
