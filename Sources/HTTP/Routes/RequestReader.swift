import Countersign

/// What the routes read off a request beside their own members.
extension Request {
    /// The body, read member by member.
    ///
    /// - Throws: 400 for another shape, 422 for values that are not acceptable.
    func body<Result>(
        _ read: (inout ObjectReader) throws(BodyRefusal) -> Result?
    ) throws(Problem) -> Result {
        try refuseQuery()
        let json: JSON
        do throws(MalformedJSON) { json = try StrictJSON.parse(body) } catch {
            throw Problem(error)
        }
        do throws(BodyRefusal) { return try ObjectReader.read(json, read) } catch {
            throw Problem(error)
        }
    }

    /// Takes a request that says everything by its path: no body but an empty object, no query.
    func nothingMore() throws(Problem) {
        guard !body.isEmpty else { return try refuseQuery() }
        try body { _ throws(BodyRefusal) in () }
    }

    /// Takes a request to read: its query is empty; a body has no meaning (RFC 9110 §9.3.1).
    func refuseQuery() throws(Problem) {
        _ = try QueryReader(self, allowing: [])
    }

    /// The key under which the caller will send this again.
    ///
    /// It comes as a String of RFC 8941, as the draft says, or bare. The two spellings of one key are
    /// one key. A comma needs the quotes: two joined fields must not become a key of their own.
    ///
    /// Source: draft-ietf-httpapi-idempotency-key-header-07 §2.1.
    ///
    /// - Returns: 1 to 255 visible ASCII characters; `nil` without the field.
    /// - Throws: 400 for anything else.
    func idempotencyKey() throws(Problem) -> String? {
        let fields = headers.all("idempotency-key")
        guard let field = fields.first else { return nil }
        guard fields.count == 1, let key = IdempotencyKey.read(field) else {
            throw .malformedRequest(
                "One Idempotency-Key of 1 to 255 visible ASCII characters is needed.")
        }
        return key
    }
}

private enum IdempotencyKey {
    static func read(_ field: String) -> String? {
        let units = Bytes(ASCII.trimmed(field).utf8)
        let key = units.first == quote ? unquoted(units) : bare(units)
        guard let key, (1...255).contains(key.count),
            key.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return String(decoding: key, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func bare(_ units: Bytes) -> Bytes? {
        units.contains(quote) || units.contains(UInt8(ascii: ",")) ? nil : units
    }

    private static func unquoted(_ units: Bytes) -> Bytes? {
        var key: Bytes = []
        var rest = units.dropFirst()
        while let unit = rest.popFirst() {
            if unit == quote { return rest.isEmpty ? key : nil }
            guard unit == backslash else {
                key.append(unit)
                continue
            }
            guard let escaped = rest.popFirst(), escaped == quote || escaped == backslash else {
                return nil
            }
            key.append(escaped)
        }
        return nil
    }
}
