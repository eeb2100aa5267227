import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Values of every type go to the database and come back` {
    @Test func text() async throws {
        try await withDatabase { test in
            let database = await test.open()
            for text in ["", "plain", "\"' \\ {} NULL\n\t", "Ünïcödé 漢字 🇪🇺", "e\u{301}"] {
                let back: String = try await value("$1::text", .text(text), in: database)
                #expect(back.unicodeScalars.elementsEqual(text.unicodeScalars))
            }
            let none: String? = try await value("$1::text", .text(nil), in: database)
            #expect(none == nil)
        }
    }

    @Test func `text with U+0000 is refused, not cut off`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            await #expect(throws: StoreFailure.internalFailure(code: "22021")) {
                let _: String = try await value("$1::text", .text("a\u{0}b"), in: database)
            }
            await #expect(throws: StoreFailure.internalFailure(code: "22021")) {
                let _: Bytes = try await value("$1::json", .json([0]), in: database)
            }
        }
    }

    @Test func `integers, to their limits`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            for number in [0, 1, -1, Int64.max, .min] {
                #expect(try await value("$1::int8", .int64(number), in: database) == number)
            }
            let small: Int = try await value("$1::int2", .int(-32_768), in: database)
            #expect(small == -32_768)
            let none: Int64? = try await value("$1::int4", .int64(nil), in: database)
            #expect(none == nil)
            await #expect(throws: StoreFailure.internalFailure(code: "22003")) {
                let _: Int = try await value("$1::int4", .int64(.max), in: database)
            }
        }
    }

    @Test func booleans() async throws {
        try await withDatabase { test in
            let database = await test.open()
            for truth in [true, false] {
                #expect(try await value("$1::bool", .bool(truth), in: database) == truth)
            }
            let none: Bool? = try await value("$1::bool", .bool(nil), in: database)
            #expect(none == nil)
        }
    }

    @Test func `bytes, and those that look like text`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            let all = Bytes((0...255).map { UInt8($0) })
            for bytes in [[], [0], all, Bytes("\\x00".utf8), Bytes(repeating: 7, count: 100_000)] {
                #expect(try await value("$1::bytea", .bytes(bytes), in: database) == bytes)
            }
            let none: Bytes? = try await value("$1::bytea", .bytes(nil), in: database)
            #expect(none == nil)
        }
    }

    @Test func `a list with an element that cannot be read is no list`() async throws {
        try await withDatabase { test in
            func list(_ text: String) async throws -> [Bytes] {
                let rows = try await test.sql("SELECT '\(text)' AS timestamps")
                let row = try #require(try rows.single())
                return try row.list("timestamps") { Hex.decode($0) }
            }
            let (none, two) = (try await list(""), try await list("00ff,01"))
            #expect(none == [] && two == [[0, 0xFF], [1]])
            for text in ["zz", "00,zz,01", "00,", ",00", "00,,01", "0"] {
                await #expect(throws: PostgresError.malformedColumn("timestamps"), "\(text)") {
                    _ = try await list(text)
                }
            }
        }
    }

    @Test func `a digest has 32 bytes`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            let digest = try #require(Digest(Bytes(repeating: 0xAB, count: 32)))
            #expect(try await value("$1::bytea", .digest(digest), in: database) == digest)
            await #expect(throws: StoreFailure.internalFailure(code: "column:value")) {
                let _: Digest = try await value("$1::bytea", .bytes([1, 2]), in: database)
            }
        }
    }

    @Test func `instants to the millisecond, cut off and not rounded`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            for milliseconds in [
                0, 1, -1, -62_135_596_800_000, 1_767_225_600_000, 253_402_300_799_999,
            ] {
                let instant = Instant(milliseconds: Int64(milliseconds))
                #expect(
                    try await value("$1::timestamptz", .instant(instant), in: database) == instant)
            }
            let late: Instant = try await value(
                "$1::timestamptz", .text("2025-12-31T23:59:59.999999+00:00"), in: database)
            #expect(late.text == "2025-12-31T23:59:59.999Z")
            let zoned: Instant = try await value(
                "$1::timestamptz", .text("2026-01-01T01:30:00.5+01:30"), in: database)
            #expect(zoned.text == "2026-01-01T00:00:00.500Z")
            let none: Instant? = try await value("$1::timestamptz", .instant(nil), in: database)
            #expect(none == nil)
        }
    }

    @Test(arguments: ["infinity", "-infinity", "10000-01-01T00:00:00Z", "0044-03-15 BC"])
    func `an instant that has no form here is refused`(text: String) async throws {
        try await withDatabase { test in
            let database = await test.open()
            await #expect(throws: StoreFailure.internalFailure(code: "column:value")) {
                let _: Instant = try await value("$1::timestamptz", .text(text), in: database)
            }
        }
    }

    @Test func `identifiers`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            for id in [
                ID<Action>(rawValue: 0), ID(rawValue: .max), ID(rawValue: 0x0123_4567 << 64),
            ] {
                #expect(try await value("$1::uuid", .id(id), in: database) == id)
            }
            let none: ID<Action>? = try await value(
                "$1::uuid", .id(ID<Action>?.none), in: database)
            #expect(none == nil)
        }
    }

    @Test func `JSON as bytes and as text`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            let json = Bytes(#"{"a": "ü\\", "n": null}"#.utf8)
            #expect(try await value("$1::json", .json(json), in: database) == json)
            let text: String = try await value("$1::jsonb->>'a'", .json(json), in: database)
            #expect(text == "ü\\")
            let none: Bytes? = try await value("$1::jsonb", .json(nil), in: database)
            #expect(none == nil)
        }
    }

    @Test func `dates and numbers are read as text`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            let date: String = try await value("$1::date", .text("2026-02-28"), in: database)
            #expect(date == "2026-02-28")
            let number: String = try await value("$1::numeric", .text("120.00"), in: database)
            #expect(number == "120.00")
        }
    }
}

@Suite struct `Arrays keep every element as it is` {
    @Test func `of text`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            let texts: [String?] = [
                "", "a", "NULL", nil, "null", "\"", "\\", "\\\"", "{}", "{a,b}", "a,b", " a ", "'",
                "\n\r\t", "é", "e\u{301}", "漢字", "🇪🇺", "\u{7f}",
            ]
            let back = try await elements("text", .textArray(texts), in: database)
            #expect(
                back.map { $0.map { Bytes($0.utf8) } } == texts.map { $0.map { Bytes($0.utf8) } })
            #expect(try await elements("text", .textArray([]), in: database) == [])
        }
    }

    @Test func `of everything else`() async throws {
        try await withDatabase { test in
            let database = await test.open()
            let numbers: [Int64?] = [.min, nil, 0, .max]
            let back = try await elements("int8", .int64Array(numbers), in: database)
            #expect(back == numbers.map { $0.map { String($0) } })
            let dates = ["2026-02-28", nil, "0001-01-01"]
            #expect(try await elements("date", .dateArray(dates), in: database) == dates)
            let ids: [ID<Payee>?] = [ID(rawValue: 0), nil, ID(rawValue: .max)]
            #expect(
                try await elements("uuid", .idArray(ids), in: database) == ids.map { $0?.text })
        }
    }
}

@Suite struct `Reading a column as what it is not` {
    @Test(arguments: [
        "1::int8", "true", "now()", "'\\x00'::bytea", "'{}'::text[]", "1.5::float8",
        "gen_random_uuid()",
    ])
    func `is refused for text`(expression: String) async throws {
        try await refused(expression, as: String.self)
    }

    @Test func `is refused for every type`() async throws {
        try await refused("'1'::text", as: Int64.self)
        try await refused("1.0::numeric", as: Int64.self)
        try await refused("'t'::text", as: Bool.self)
        try await refused("'\\x00'::text", as: Bytes.self)
        try await refused("'2026-01-01T00:00:00'::timestamp", as: Instant.self)
        try await refused("'2026-01-01'::date", as: Instant.self)
        try await refused("gen_random_uuid()::text", as: ID<Action>.self)
        try await refused("'{}'::json", as: Digest.self)
    }

    @Test func `NULL is refused unless it is allowed`() async throws {
        try await refused("NULL::text", as: String.self)
        try await refused("NULL::int8", as: Int64.self)
        try await refused("NULL::bool", as: Bool.self)
        try await refused("NULL::bytea", as: Bytes.self)
        try await refused("NULL::bytea", as: Digest.self)
        try await refused("NULL::timestamptz", as: Instant.self)
        try await refused("NULL::uuid", as: ID<Action>.self)
        // Allowed, but not of another type.
        try await refused("1::int8", as: String?.self)
    }

    @Test func `a column that is not there is refused`() async throws {
        try await withDatabase { test in
            let row = try #require(try await test.sql("SELECT 1 AS one").first)
            #expect(throws: PostgresError.malformedColumn("two")) {
                let _: Int = try row["two"]
            }
        }
    }

    @Test func `several rows are not one`() async throws {
        try await withDatabase { test in
            let rows = try await test.sql("SELECT generate_series(1, 2)")
            #expect(throws: PostgresError.self) { try rows.single() }
            #expect(rows.count == 2)
            let none = try await test.sql("SELECT 1 WHERE false")
            #expect(try none.single() == nil)
        }
    }
}

/// What the server makes of one parameter.
private func value<Value: ColumnValue & Sendable>(
    _ expression: String, _ parameter: Parameter, in database: Database
) async throws(StoreFailure) -> Value {
    let statement = Statement.read("SELECT \(expression) AS value")
    return try await database.query(statement, [parameter]) { rows throws(PostgresError) in
        guard let row = try rows.single() else { throw .malformedColumn("value") }
        return try row["value"]
    }
}

/// The elements of an array parameter, each as the server prints it.
private func elements(
    _ type: String, _ parameter: Parameter, in database: Database
) async throws -> [String?] {
    let sql = "SELECT e::text AS e FROM unnest($1::\(type)[]) WITH ORDINALITY x (e, n) ORDER BY n"
    let statement = Statement("elements of \(type)", .read, Bytes(sql.utf8))
    return try await database.query(statement, [parameter]) { rows throws(PostgresError) in
        var elements: [String?] = []
        for row in rows { elements.append(try row["e"]) }
        return elements
    }
}

/// Expects that the value of an expression is not read as `type`.
private func refused<Value: ColumnValue & Sendable>(
    _ expression: String, as type: Value.Type
) async throws {
    try await withDatabase { test in
        let row = try #require(try await test.sql("SELECT \(expression) AS value").first)
        #expect(throws: PostgresError.malformedColumn("value"), "\(expression) as \(type)") {
            let _: Value = try row["value"]
        }
    }
}
