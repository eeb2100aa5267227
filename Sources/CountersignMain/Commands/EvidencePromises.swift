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
                name: "key", placeholder: "VERIFIER_KEY",
                what: "the verifier key of promises, as the record promise.key has it",
                isRequired: true)
        ],
        settings: ["database.url", "development"], required: ["database.url"]
    ) { invocation in
        guard let key = invocation.option("key").flatMap({ VerifierKey(text: $0) }),
            key.kind == .ed25519
        else { throw UsageError("--key is not a verifier key of Ed25519") }
        guard let file = LineReader(path: invocation.positionals[0]) else {
            throw CommandFailure("the file \(invocation.positionals[0]) cannot be read")
        }
        try await invocation.configuration.withDatabase(statementDeadline: Configuration.patience) {
            try await check(file, key, PostgresPromises(database: $0))
        }
    }

    private static func check(
        _ file: LineReader, _ key: VerifierKey, _ promises: PostgresPromises
    ) async throws {
        var counts: [PostgresPromises.Outcome: Int] = [:]
        var number = 0
        while let line = try file.line() {
            number += 1
            guard let note = SignedJSON.decode(line)?["promise"]?.text,
                let signed = SignedNote(decoding: Bytes(note.utf8)),
                let promise = RecordPromise.read(signed, signedBy: key)
            else { throw CommandFailure("line \(number) has no promise that this key has signed") }
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
                + "\(broken) broken")
        guard broken == 0 else { throw CommandFailure("promises were broken") }
        // A file without any agrees with everything.
        guard number > 0 else { throw CommandFailure("the file has no promise") }
    }
}
