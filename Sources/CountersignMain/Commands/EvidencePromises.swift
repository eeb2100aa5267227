import Countersign
import Crypto
import Evidence
import Postgres

extension Command {
    static let evidencePromises = Command(
        name: "evidence promises",
        summary: "Check that what was promised to callers is in the log (as countersign_auditor)",
        positionals: [
            .init(name: "FILE", what: "one JSON object a line, with the member promise")
        ],
        options: [
            .init(
                name: "key", placeholder: "VERIFIER_KEYS",
                what:
                    "the verifier keys of promises, a comma list, as the records promise.key have them",
                isRequired: true)
        ],
        settings: ["database.url", "development"], required: ["database.url"]
    ) { invocation in
        let keys = try (invocation.option("key") ?? "").split(
            separator: ",", omittingEmptySubsequences: false
        ).map { text in
            guard let key = VerifierKey(text: String(text)), key.kind == .ed25519 else {
                throw UsageError("--key is no list of verifier keys of Ed25519")
            }
            return key
        }
        guard let file = LineReader(path: invocation.positionals[0]) else {
            throw CommandFailure("the file \(invocation.positionals[0]) cannot be read")
        }
        try await invocation.configuration.withDatabase(statementDeadline: Configuration.patience) {
            try await check(file, keys, PostgresPromises(database: $0))
        }
    }

    private static func check(
        _ file: LineReader, _ keys: [VerifierKey], _ promises: PostgresPromises
    ) async throws {
        var counts: [PostgresPromises.Outcome: Int] = [:]
        var number = 0
        var unsigned = 0
        while let line = try file.line() {
            number += 1
            guard let promise = promise(line, keys) else {
                unsigned += 1
                Console.out("line \(number) has no promise that one of these keys has signed")
                continue
            }
            let outcome = try await promises.outcome(of: promise)
            counts[outcome, default: 0] += 1
            switch outcome {
            case .kept, .pending: break
            case .missing: Console.out("\(promise.evidence)  is in no published checkpoint")
            case .altered: Console.out("\(promise.evidence)  is in the log with another leaf")
            }
        }
        let broken = counts[.missing, default: 0] + counts[.altered, default: 0]
        Console.out(
            "\(counts[.kept, default: 0]) promises kept, \(counts[.pending, default: 0]) not due yet, "
                + "\(broken) broken, \(unsigned) lines without one; that the log is what it was signed as, "
                + "evidence fsck says")
        guard broken == 0 else { throw CommandFailure("promises were broken") }
        guard unsigned == 0 else { throw CommandFailure("not every line has a promise") }
        // A file without any agrees with everything.
        guard number > 0 else { throw CommandFailure("the file has no promise") }
    }

    private static func promise(_ line: Bytes, _ keys: [VerifierKey]) -> RecordPromise? {
        guard let text = SignedJSON.decode(line)?["promise"]?.text,
            let note = SignedNote(decoding: Bytes(text.utf8))
        else { return nil }
        for key in keys {
            if let promise = RecordPromise.read(note, signedBy: key) { return promise }
        }
        return nil
    }
}
