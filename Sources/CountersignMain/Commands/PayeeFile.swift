import Countersign
import Crypto
import Foundation
import HTTP

/// A file of payees: one JSON object a line.
struct PayeeFile {
    /// One line.
    struct Line {
        let number: Int
        /// As it stands there.
        let json: JSON
        let customer: CustomerID
        let identity: PayeeIdentity
        let alias: DisplayText
        /// `nil` in a file that is not prepared.
        let salt: String?
    }

    let lines: [Line]

    /// Reads every line before anything is done: one bad line refuses the file.
    ///
    /// - Parameter path: A file, or `-` for standard input.
    /// - Throws: ``CommandFailure`` with the number of the line, never its content.
    init(_ path: String) throws {
        let data: Data
        if path == "-" {
            data = try FileHandle.standardInput.readToEnd() ?? Data()
        } else {
            do { data = try Data(contentsOf: URL(filePath: path)) } catch {
                throw CommandFailure("the file cannot be read")
            }
        }
        var read: [Line] = []
        let lines = Bytes(data).split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            do throws(BodyRefusal) {
                read.append(try Line(Bytes(line), number: index + 1))
            } catch {
                throw CommandFailure("line \(index + 1): \(error.explanation)")
            }
        }
        self.lines = read
    }

    /// The rows of a prepared file, whose digests people sign.
    ///
    /// - Throws: ``CommandFailure`` when it has none, too many, one twice, or one without a salt.
    func rows() throws -> [PayeeRow] {
        guard 1...PayeeImportRequest.rowsMax ~= lines.count else {
            throw CommandFailure(
                "a prepared file has 1 to \(PayeeImportRequest.rowsMax) payees: split it")
        }
        let rows = try lines.map { line in
            guard let salt = line.salt else {
                throw CommandFailure(
                    "line \(line.number): there is no salt: the file is not prepared")
            }
            return PayeeRow(
                customer: line.customer, identity: line.identity, alias: line.alias, salt: salt)
        }
        guard Set(rows).count == rows.count else { throw CommandFailure("a line stands twice") }
        return rows
    }

    /// The digests of the rows of a prepared file, as they stand in the document of an act.
    ///
    /// - Throws: ``CommandFailure`` as ``rows()``.
    func digests() throws -> [String] { try rows().map { sha256($0.bytes).hex } }
}

extension PayeeFile.Line {
    fileprivate init(_ line: Bytes, number: Int) throws(BodyRefusal) {
        let json: JSON
        do throws(MalformedJSON) { json = try StrictJSON.parse(line) } catch {
            throw .malformed(error)
        }
        self = try ObjectReader.read(json) { reader throws(BodyRefusal) -> Self? in
            let customer = try reader.value("customer_id") { text throws(InvalidValue) in
                try CustomerID(text)
            }
            let name = try reader.displayText("name", .payeeName)
            let account = try reader.account("account")
            let alias = try reader.displayText("alias", .payeeAlias)
            let salt = try reader.optionalValue("salt") { text throws(InvalidValue) in
                guard Base64.decodeURL(text)?.count == PayeeRow.saltSize else {
                    throw InvalidValue("salt_form", "32 bytes in base64url are needed here.")
                }
                return text
            }
            guard let customer, let name, let account, let alias else { return nil }
            return Self(
                number: number, json: json, customer: customer,
                identity: PayeeIdentity(name: name, account: account), alias: alias, salt: salt)
        }
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
