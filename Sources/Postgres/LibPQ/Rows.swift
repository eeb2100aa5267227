import Countersign

/// The rows of one statement, copied out of libpq: a plain value that may go anywhere.
package struct Rows: Sendable, RandomAccessCollection {
    /// A column's name and the OID of its type.
    struct Column: Sendable {
        let name: String
        let type: UInt32
    }

    let columns: [Column]
    /// The text of all values, one after another.
    let storage: Bytes
    /// Where each value lies in `storage`, row by row; `nil` is NULL.
    let cells: [Range<Int>?]
    /// How many rows there are; a result may have rows without columns.
    package let count: Int
    /// The command tag, such as `COMMIT` or `UPDATE 3`.
    let tag: String

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> Row {
        precondition((0..<count).contains(position), "a row that is there")
        return Row(rows: self, index: position)
    }

    /// The only row; `nil` when there is none.
    ///
    /// - Throws: ``PostgresError/malformedColumn(_:)`` when there are several: a defect of the SQL.
    package func single() throws(PostgresError) -> Row? {
        guard count <= 1 else { throw .malformedColumn("(several rows)") }
        return first
    }
}

/// One row of a result.
package struct Row: Sendable {
    private let rows: Rows
    private let index: Int

    init(rows: Rows, index: Int) {
        self.rows = rows
        self.index = index
    }

    /// The value of a column, of the type that the caller expects; an optional type allows NULL.
    ///
    ///     let id: ID<Action> = try row["id"]
    ///     let until: Instant? = try row["hold_until"]
    ///
    /// - Throws: ``PostgresError/malformedColumn(_:)`` when there is no such column, or its value is
    ///   NULL or of another type.
    package subscript<Value: ColumnValue>(name: String) -> Value {
        get throws(PostgresError) {
            guard let column = rows.columns.firstIndex(where: { $0.name == name }) else {
                throw .malformedColumn(name)
            }
            let cell = rows.cells[index * rows.columns.count + column]
            let text = cell.map { rows.storage[$0] }
            guard
                let value = Value(
                    column: text, type: ColumnType(rawValue: rows.columns[column].type))
            else { throw .malformedColumn(name) }
            return value
        }
    }

    /// The elements of a column that an `array_to_string` has made, with commas between.
    ///
    /// - Throws: ``PostgresError/malformedColumn(_:)`` when there is no such column, or one of its elements cannot
    ///   be read: what is stored is never left out.
    package func list<Element>(
        _ name: String, _ read: (String) -> Element?
    ) throws(PostgresError) -> [Element] {
        let text: String = try self[name]
        guard !text.isEmpty else { return [] }
        return try text.split(separator: ",", omittingEmptySubsequences: false).map {
            part throws(PostgresError) in
            guard let element = part.isEmpty ? nil : read(String(part)) else {
                throw .malformedColumn(name)
            }
            return element
        }
    }
}
