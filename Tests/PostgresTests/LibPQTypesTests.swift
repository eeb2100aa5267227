import Countersign
import Postgres
import TestSupport
import Testing

@Suite struct `Values of every type go to the database and come back` {
    @Test func `text, and text that is NULL`() async throws {
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
}

/// What the server makes of one parameter.
func value<Value: ColumnValue & Sendable>(
    _ expression: String, _ parameter: Parameter, in database: Database
) async throws(StoreFailure) -> Value {
    let statement = Statement(expression, .read, Bytes("SELECT \(expression) AS value".utf8))
    return try await database.query(statement, [parameter]) { rows throws(PostgresError) in
        guard let row = try rows.single() else { throw .malformedColumn("value") }
        return try row["value"]
    }
}
