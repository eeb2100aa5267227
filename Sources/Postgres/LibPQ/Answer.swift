internal import CPostgres
import Countersign

/// The results of one request, as far as they have come.
struct Answer {
    /// The last rows.
    private(set) var rows: Rows?
    /// The first error.
    private(set) var report: ServerReport?
    /// The server ends the session, libpq itself gave up, or something came that was not asked for.
    private(set) var isBeyondUse = false

    /// Takes in one result; the caller still has to clear it.
    mutating func take(_ result: OpaquePointer) {
        switch unsafe PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: unsafe rows = Rows(result)
        case PGRES_FATAL_ERROR:
            guard let report = unsafe ServerReport(result), report.severity == "ERROR" else {
                isBeyondUse = true
                return
            }
            if self.report == nil { self.report = report }
        default: isBeyondUse = true
        }
    }
}

extension Rows {
    /// Copies a result of libpq.
    init(_ result: OpaquePointer) {
        let width = unsafe PQnfields(result)
        let height = unsafe PQntuples(result)
        columns = (0..<width).map { column in
            Column(
                name: unsafe PQfname(result, column).map { unsafe String(cString: $0) } ?? "",
                type: unsafe PQftype(result, column))
        }
        var storage: Bytes = []
        var cells: [Range<Int>?] = []
        cells.reserveCapacity(Int(width) * Int(height))
        for row in 0..<height {
            for column in 0..<width {
                guard unsafe PQgetisnull(result, row, column) == 0 else {
                    cells.append(nil)
                    continue
                }
                let start = storage.count
                let length = unsafe Int(PQgetlength(result, row, column))
                unsafe storage.append(
                    contentsOf: UnsafeRawBufferPointer(
                        start: PQgetvalue(result, row, column), count: length))
                cells.append(start..<storage.count)
            }
        }
        self.storage = storage
        self.cells = cells
        count = Int(height)
        tag = unsafe PQcmdStatus(result).map { unsafe String(cString: $0) } ?? ""
    }
}
