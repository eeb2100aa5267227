/// A payee that is to be imported, with what makes its digest say nothing to whoever does not have the row.
///
/// The digest is what two people sign. An account number could be guessed from a bare digest, so each row has
/// a salt of its own, which stands in the prepared file and nowhere else.
package struct PayeeRow: Hashable, Sendable {
    package let customer: CustomerID
    package let identity: PayeeIdentity
    /// Empty when there is none.
    package let alias: DisplayText
    /// 32 random bytes in base64url, which is 43 characters.
    package let salt: String

    /// Changes with any change of what is digested.
    private static let version = "countersign/payee-row/1"
    /// Of a salt, in bytes.
    package static let saltSize = 32

    /// Takes what a line of a prepared file says.
    package init(customer: CustomerID, identity: PayeeIdentity, alias: DisplayText, salt: String) {
        self.customer = customer
        self.identity = identity
        self.alias = alias
        self.salt = salt
    }

    /// What is digested: one canonical JSON object of strings (RFC 8785). The database makes the same of
    /// the values that it writes, in `payee_row_digest`.
    package var bytes: Bytes {
        CanonicalJSON.encode([
            "account": identity.account.text,
            "alias": alias.text,
            "customer_id": customer.text,
            "name": identity.name.text,
            "salt": salt,
            "version": PayeeRow.version,
        ])
    }
}

/// The document of an act that lets the operator import payees: the digest of every row, and why.
package struct PayeeImportRequest: Hashable, Sendable {
    /// SHA-256 in hex of ``PayeeRow/bytes``, in the order of the file.
    package let rows: [String]
    package let reason: DisplayText

    /// More rows are several acts: a request has 64 KiB.
    package static let rowsMax = 500

    /// Reads what was sent: `{"rows": [hex SHA-256, …], "reason": …}`.
    ///
    /// - Throws: ``InvalidActMember``, the first that is wrong.
    package init(_ json: JSON) throws(InvalidActMember) {
        try ActDocument.refuseOthers(than: ["reason", "rows"], in: json)
        reason = try ActDocument.reason(in: json)
        guard case .array(let values)? = json["rows"], 1...Self.rowsMax ~= values.count else {
            throw InvalidActMember(
                "/rows", "rows_needed", "A list of 1 to \(Self.rowsMax) digests is needed here.")
        }
        var rows: [String] = []
        var seen: Set<String> = []
        for (index, value) in values.enumerated() {
            guard let text = value.text, let digest = Hex.decode(text).flatMap(Digest.init),
                digest.hex == text
            else {
                throw InvalidActMember(
                    "/rows/\(index)", "digest_form", "A SHA-256 in lower-case hex is needed here.")
            }
            guard seen.insert(text).inserted else {
                throw InvalidActMember(
                    "/rows/\(index)", "row_repeated", "Each row stands here once.")
            }
            rows.append(text)
        }
        self.rows = rows
    }

    /// The document that is signed.
    package var document: JSON {
        [
            "payees": .integer(Int64(rows.count)), "reason": .string(reason.text),
            "rows": .array(rows.map { .string($0) }),
        ]
    }

    /// The rows of a recorded act's document; empty for any other.
    package static func rows(recorded document: JSON) -> [String] {
        guard case .array(let rows)? = document["rows"] else { return [] }
        return rows.compactMap(\.text)
    }
}

extension PayeeRow {
    /// Reads the body of the evidence of an import; `nil` when it does not hold the whole row.
    package init?(recorded body: JSON) {
        guard let customer = body["customer_id"]?.text, let payee = body["payee"],
            let name = payee["name"]?.text, let alias = body["alias"]?.text,
            let salt = body["salt"]?.text, let account = payee["account"]?.accountText
        else { return nil }
        do throws(InvalidValue) {
            self.init(
                customer: try CustomerID(customer),
                identity: PayeeIdentity(
                    name: try DisplayText(name, .payeeName), account: try Account(text: account)),
                alias: try DisplayText(alias, .payeeAlias), salt: salt)
        } catch { return nil }
    }
}

extension JSON {
    /// The account of ``Account/json`` as one text.
    fileprivate var accountText: String? {
        if let iban = self["iban"]?.text { return "iban:\(iban)" }
        guard let scheme = self["scheme"]?.text, let value = self["value"]?.text else { return nil }
        return "\(scheme):\(value)"
    }
}
