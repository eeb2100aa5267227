import Countersign
import Crypto
import Postgres

extension Command {
    /// Payees that customers confirmed before this service existed; an operator's act, in evidence, of what
    /// two people of the risk team have signed.
    static let payeeImport = Command(
        name: "payee import", summary: "Import confirmed payees from a file that two people signed",
        positionals: [
            .init(
                name: "FILE",
                what: "what payee prepare made; in development also one payee per line: "
                    + "{\"customer_id\", \"name\", \"account\": {\"iban\": …}, \"alias\"?}; "
                    + "or - for standard input")
        ],
        options: [
            .init(
                name: "act", placeholder: "ACT",
                what: "the act by which two people signed the file; needless in development only")
        ],
        settings: evidenceSettings, required: evidenceRequired
    ) { invocation in
        let file = try PayeeFile(invocation.positionals[0])
        let act = try invocation.option("act").map { text in
            guard let id = ID<Act>(text) else { throw UsageError("--act is not an ID") }
            return id
        }
        let count = try await invocation.configuration.administer { administration in
            if let act {
                return try await administration.importPayees(of: file, under: act)
            }
            return try await administration.importUnsigned(file)
        }
        Console.out("imported \(count), already there \(file.lines.count - count)")
    }
}

extension Administration {
    /// Imports the rows of a file that two people have signed, all of them and no others. After an
    /// interruption the rest is imported by doing it again.
    ///
    /// - Returns: How many are new.
    /// - Throws: ``CommandFailure`` before anything is imported when the act is about other rows, or is not
    ///   done; ``StoreFailure``.
    fileprivate func importPayees(of file: PayeeFile, under id: ID<Act>) async throws -> Int {
        let rows = try file.rows()
        guard let act = try await importAct(id) else {
            throw CommandFailure("there is no act payee.import of this ID")
        }
        guard act.isDone else { throw CommandFailure("two people have not signed the act") }
        guard try Set(file.digests()) == Set(act.rows) else {
            throw CommandFailure("the file holds other rows than the act: nothing was imported")
        }
        var imported = 0
        for (line, row) in zip(file.lines, rows) {
            switch try await importPayee(row, under: id) {
            case .imported: imported += 1
            case .exists: break
            case .notSigned:
                throw CommandFailure(
                    "line \(line.number) cannot be imported under this act: it was signed more than "
                        + "7 days ago, or a key that signed it has ended; propose anew")
            }
        }
        return imported
    }

    fileprivate func importUnsigned(_ file: PayeeFile) async throws -> Int {
        var imported = 0
        for line in file.lines {
            switch try await importPayee(line.identity, alias: line.alias, of: line.customer) {
            case .imported: imported += 1
            case .exists: break
            case .notSigned:
                throw CommandFailure(
                    "payees that nobody signed are imported in development only: see payee propose")
            }
        }
        return imported
    }
}
