internal import CPostgres

/// What a connection remembers between calls. Used by whoever has the connection, one at a time.
final class SessionState {
    /// Names of the statements that this session has prepared.
    var prepared: Set<String> = []
    /// Between a `BEGIN` that was sent and the `COMMIT` or `ROLLBACK` that ends it.
    var isInTransaction = false
    /// Nobody waits any more for an answer that is still to come.
    var isStuck = false
    /// Not to be used again although it may still be open.
    var isWorn = false
    /// A warning came that a commit may not be durable; see ``receiveNotice(_:_:)``.
    var isInDoubt = false
    /// What the server said of the last error: may quote values, so it is for the operator only.
    var lastMessage = ""
    /// How many commits took place or may have.
    var commits = 0
}

/// libpq's notice receiver; a C callback, hence a function at the top level.
///
/// A commit that a cancelled or terminated backend stopped waiting for is answered with success and
/// one warning: 01000 when cancelled, 57P01 when terminated. Nothing else tells it from a durable one.
/// (`RAISE WARNING` in PL/pgSQL is a 01000 as well: our functions must not use it.)
func receiveNotice(_ context: UnsafeMutableRawPointer?, _ notice: OpaquePointer?) {
    guard let context = unsafe context, let notice = unsafe notice,
        let report = unsafe ServerReport(notice), report.severity == "WARNING"
    else { return }
    if report.sqlState == "01000" || report.sqlState == "57P01" {
        unsafe Unmanaged<SessionState>.fromOpaque(context).takeUnretainedValue().isInDoubt = true
    }
}

/// The fields of an error or notice that something is decided by.
struct ServerReport {
    /// In English whatever `lc_messages` says, such as `ERROR` or `FATAL`.
    let severity: String
    let sqlState: String
    let constraint: String?
    let message: String

    /// - Returns: `nil` when libpq itself made the report: the connection is lost.
    init?(_ result: OpaquePointer) {
        func field(_ code: Int32) -> String? {
            unsafe PQresultErrorField(result, code).map { text in unsafe String(cString: text) }
        }
        guard let severity = field(countersign_field_severity),
            let sqlState = field(countersign_field_sqlstate)
        else { return nil }
        self.severity = severity
        self.sqlState = sqlState
        constraint = field(countersign_field_constraint)
        message = field(countersign_field_message) ?? ""
    }
}
