import Countersign
import Foundation
import HTTP
import Postgres

extension Command {
    /// Payees that customers confirmed before this service existed; an operator's act, in evidence.
    static let payeeImport = Command(
        name: "payee import", summary: "Import confirmed payees from a JSON Lines file",
        positionals: [
            .init(
                name: "FILE",
                what: "one payee per line: {\"customer_id\", \"name\", \"account\": {\"iban\": …}, "
                    + "\"alias\"?}; or - for standard input")
        ],
        settings: ["database.url", "development", "evidence"],
        required: ["database.url", "evidence.origin", "evidence.key_encryption_key"]
    ) { invocation in
        let payees = try ImportedPayee.read(invocation.positionals[0])
        var imported = 0
        try await invocation.configuration.administer { administration in
            for payee in payees {
                if try await administration.importPayee(
                    payee.identity, alias: payee.alias, of: payee.customer)
                {
                    imported += 1
                }
            }
        }
        Console.out("imported \(imported), already there \(payees.count - imported)")
    }
}

/// One line of an import.
private struct ImportedPayee {
    let customer: CustomerID
    let identity: PayeeIdentity
    let alias: DisplayText

    /// Reads every line before anything is imported: one bad line refuses the file.
    ///
    /// - Throws: ``CommandFailure`` with the number of the line, never its content.
    static func read(_ path: String) throws -> [ImportedPayee] {
        let data: Data
        if path == "-" {
            data = try FileHandle.standardInput.readToEnd() ?? Data()
        } else {
            do { data = try Data(contentsOf: URL(filePath: path)) } catch {
                throw CommandFailure("the file cannot be read")
            }
        }
        var payees: [ImportedPayee] = []
        let lines = Bytes(data).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            do throws(BodyRefusal) {
                payees.append(try ImportedPayee(Bytes(line)))
            } catch {
                throw CommandFailure("line \(index + 1): \(error.explanation)")
            }
        }
        return payees
    }

    private init(_ line: Bytes) throws(BodyRefusal) {
        let json: JSON
        do throws(MalformedJSON) { json = try StrictJSON.parse(line) } catch {
            throw .malformed(error)
        }
        self = try ObjectReader.read(json) { reader throws(BodyRefusal) -> ImportedPayee? in
            let customer = try reader.value("customer_id") { text throws(InvalidValue) in
                try CustomerID(text)
            }
            let name = try reader.displayText("name", .payeeName)
            let account = try reader.account("account")
            let alias = try reader.displayText("alias", .payeeAlias)
            guard let customer, let name, let account, let alias else { return nil }
            return ImportedPayee(
                customer: customer, identity: PayeeIdentity(name: name, account: account),
                alias: alias)
        }
    }

    private init(customer: CustomerID, identity: PayeeIdentity, alias: DisplayText) {
        self.customer = customer
        self.identity = identity
        self.alias = alias
    }
}

extension BodyRefusal {
    /// What is wrong and where, without the value.
    fileprivate var explanation: String {
        switch self {
        case .malformed(let malformed): malformed.detail
        case .invalid(let members):
            members.map { "\($0.pointer) \($0.detail)" }.joined(separator: "; ")
        }
    }
}
