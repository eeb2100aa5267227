internal import CPostgres
import Countersign

/// One libpq connection. Exactly one owner, one thread at a time; closed when the owner goes away.
///
/// Commit rules, each from a failure that was reproduced (`docs/decisions/0004-commit-rules.md`):
///
/// 1. A write succeeded when all its results were read up to the last, none was an error, the session
///    is out of any transaction, and no warning told of a commit that was not waited for.
/// 2. When the connection is lost or the deadline passes after a write was sent, its outcome is
///    unknown. So it is after FATAL, which can arrive when the commit has already taken place.
/// 3. A statement whose deadline passed is left alone: cancelling a commit would make it a lie. The
///    connection is stuck then, and good for nothing but being watched until the answer comes.
@safe package struct Connection: ~Copyable {
    let handle: OpaquePointer
    let state: SessionState
    let deadline: Duration
    /// Counts the writes under way and the stuck connections; none for a connection outside a pool.
    let quarantine: Quarantine?

    /// Connects, blocking for at most the timeout of each host that is tried.
    ///
    /// - Parameters:
    ///   - info: Where and as whom; its `connect_timeout` is 2 seconds unless it says otherwise.
    ///   - applicationName: What the server's views show.
    ///   - deadline: How long one statement may take.
    /// - Throws: ``PostgresError/unreachable(reason:)``.
    package init(_ info: ConnectionInfo, applicationName: String, deadline: Duration)
        throws(PostgresError)
    {
        try self.init(
            info, applicationName: applicationName, deadline: deadline, quarantine: nil)
    }

    init(
        _ info: ConnectionInfo, applicationName: String, deadline: Duration, quarantine: Quarantine?
    ) throws(PostgresError) {
        guard let handle = unsafe open(info.settings(applicationName: applicationName)) else {
            throw .unreachable(reason: "out of memory")
        }
        let connection = unsafe Connection(handle, deadline, quarantine)
        try connection.setUp()
        self = connection
    }

    /// Owns the handle, so that it is closed whatever is thrown afterwards.
    private init(_ handle: OpaquePointer, _ deadline: Duration, _ quarantine: Quarantine?) {
        unsafe self.handle = handle
        state = SessionState()
        self.deadline = deadline
        self.quarantine = quarantine
    }

    private func setUp() throws(PostgresError) {
        guard unsafe PQstatus(handle) == CONNECTION_OK, unsafe PQsetnonblocking(handle, 1) == 0
        else {
            throw .unreachable(reason: unsafe String(cString: PQerrorMessage(handle)))
        }
        // The receiver's context lives as long as the handle: both belong to this value.
        unsafe PQsetNoticeReceiver(
            handle, receiveNotice, Unmanaged.passUnretained(state).toOpaque())
        guard case .rows = command(Statement.sessionSettings.sql) else {
            throw .unreachable(reason: "the session could not be set up")
        }
    }

    deinit { unsafe PQfinish(handle) }

    /// How many commits took place on it, or may have.
    var commits: Int { state.commits }

    /// What the server said of the last error. It may quote values: never for a caller of the API.
    var lastMessage: String { state.lastMessage }

    /// Nobody waits any more for an answer that is still to come.
    var isStuck: Bool { state.isStuck }

    /// Runs one statement, prepared under its name on first use.
    ///
    /// - Throws: ``PostgresError``. Outside of a ``transaction(_:)`` a write whose answer was lost or
    ///   late is ``PostgresError/outcomeUnknown``; in all other cases nothing was changed.
    package func execute(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) throws(PostgresError) -> Rows {
        let buffer = try ParameterBuffer(parameters)
        try prepare(statement)
        switch statement.kind {
        case .read: return try believe(send(statement.name, buffer))
        case .write: return try committing { send(statement.name, buffer) }
        }
    }

    /// Runs statements without parameters that are separated by semicolons, as one transaction when
    /// none is open. Their rows are dropped.
    ///
    /// - Throws: As ``execute(_:_:)`` for a write.
    package func run(script: String) throws(PostgresError) {
        try requireUsable()
        _ = try committing { command(script) }
    }

    /// Makes one transaction of all that `body` does; rolls it back when `body` throws.
    ///
    /// - Parameter body: May catch an error of one statement, but then has to throw: a transaction
    ///   with a failed statement cannot be committed.
    /// - Returns: What `body` returns, once it is committed.
    /// - Throws: What `body` throws, after which nothing was changed; or what came of the commit,
    ///   ``PostgresError/outcomeUnknown`` when its answer was lost or late.
    package func transaction<Result>(
        _ body: (borrowing Connection) throws(PostgresError) -> Result
    ) throws(PostgresError) -> Result {
        precondition(!state.isInTransaction, "transactions do not nest")
        try requireUsable()
        try admitWrite()
        defer { quarantine?.endWrite() }
        state.isInTransaction = true
        defer { state.isInTransaction = false }
        _ = try believe(command("BEGIN"))
        let result: Result
        do throws(PostgresError) {
            result = try body(self)
        } catch {
            rollBack()
            throw error
        }
        try commit()
        return result
    }

    private func commit() throws(PostgresError) {
        try requireUsable()
        guard unsafe PQtransactionStatus(handle) == PQTRANS_INTRANS else {
            rollBack()
            throw .other(sqlState: "25P02")
        }
        state.isInTransaction = false
        state.isInDoubt = false
        let rows = try believeCommit(command("COMMIT"))
        // A failed transaction answers COMMIT with success and this tag alone.
        guard rows.tag == "COMMIT" else { throw .other(sqlState: "25P02") }
    }

    private func rollBack() {
        state.isInTransaction = false
        guard isUsable else { return }
        // Closing the connection rolls back as well.
        if case .rows = command("ROLLBACK") {} else { state.isWorn = true }
    }

    private func prepare(_ statement: Statement) throws(PostgresError) {
        try requireUsable()
        guard !state.prepared.contains(statement.name) else { return }
        _ = try believe(sendPrepare(statement))
        state.prepared.insert(statement.name)
    }

    /// Sends what may write, and commits it unless a transaction is open.
    private func committing(_ send: () -> Reply) throws(PostgresError) -> Rows {
        guard !state.isInTransaction else { return try believe(send()) }
        try admitWrite()
        defer { quarantine?.endWrite() }
        state.isInDoubt = false
        return try believeCommit(send())
    }

    private func admitWrite() throws(PostgresError) {
        guard quarantine?.admitWrite() ?? true else { throw .unavailable }
    }

    /// The reply to what commits nothing: if it is lost, nothing was changed.
    private func believe(_ reply: Reply) throws(PostgresError) -> Rows {
        switch reply {
        case .rows(let rows): return rows
        case .refused(let error): throw error
        case .lost: throw .connectionLost
        case .late: throw .unavailable
        }
    }

    /// The reply to what may have committed.
    private func believeCommit(_ reply: Reply) throws(PostgresError) -> Rows {
        if case .refused(let error) = reply, !state.isInDoubt { throw error }
        state.commits += 1
        guard case .rows(let rows) = reply, !state.isInDoubt else { throw .outcomeUnknown }
        return rows
    }
}
