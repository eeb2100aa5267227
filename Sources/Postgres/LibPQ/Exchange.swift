internal import CPostgres
import Countersign
internal import Glibc

/// What came of sending something to the server.
enum Reply {
    /// Success, read to the end.
    case rows(Rows)
    /// An error after which the session goes on: what was sent has been rolled back.
    case refused(PostgresError)
    /// The connection is gone, or does not say what it must; anything may have happened.
    case lost
    /// The deadline passed; the connection is stuck.
    case late
}

/// Sending and waiting. Never a blocking call of libpq: those know no deadline.
extension Connection {
    /// Whether something may be sent.
    var isUsable: Bool {
        unsafe !state.isStuck && !state.isWorn && PQstatus(handle) == CONNECTION_OK
    }

    /// Whether a connection that has been idle is still good. The server says nothing unasked but
    /// that it closes; what little else it might say is worth a new connection.
    var isQuiet: Bool {
        var descriptor = unsafe pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return unsafe isUsable && poll(&descriptor, 1, 0) == 0
    }

    func requireUsable() throws(PostgresError) {
        guard isUsable else { throw .connectionLost }
    }

    /// Sends statements by the simple protocol.
    func command(_ sql: String) -> Reply { answer(sent: unsafe PQsendQuery(handle, sql)) }

    func sendPrepare(_ statement: Statement) -> Reply {
        answer(sent: unsafe PQsendPrepare(handle, statement.name, statement.sql, 0, nil))
    }

    func send(_ name: String, _ parameters: ParameterBuffer) -> Reply {
        let sent = unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 0)
        }
        return answer(sent: sent)
    }

    /// Reads the answer to what was just sent.
    private func answer(sent: Int32) -> Reply {
        guard sent == 1 else { return lost() }
        let end = ContinuousClock.now + deadline
        var answer = Answer()
        while true {
            switch waitForInput(until: end) {
            case .ready: break
            case .late:
                state.isStuck = true
                return .late
            case .lost: return lost()
            }
            if unsafe PQconsumeInput(handle) == 0 { return lost() }
            // Up to NULL: the first result of a write comes before its commit.
            while unsafe PQisBusy(handle) == 0 {
                guard let result = unsafe PQgetResult(handle) else { return verdict(on: answer) }
                unsafe answer.take(result)
                unsafe PQclear(result)
                if answer.isBeyondUse { return lost() }
            }
        }
    }

    /// Nothing more will come, or nothing more that could be trusted.
    private func lost() -> Reply {
        state.isWorn = true
        return .lost
    }

    private func verdict(on answer: Answer) -> Reply {
        let status = unsafe PQtransactionStatus(handle)
        let isInTransaction = state.isInTransaction
        if let report = answer.report {
            guard status == (isInTransaction ? PQTRANS_INERROR : PQTRANS_IDLE) else {
                return lost()
            }
            state.lastMessage = report.message
            let error = PostgresError(sqlState: report.sqlState, constraint: report.constraint)
            if error.asksForNewSession { state.isWorn = true }
            return .refused(error)
        }
        guard let rows = answer.rows,
            status == (isInTransaction ? PQTRANS_INTRANS : PQTRANS_IDLE)
        else { return lost() }
        return .rows(rows)
    }

    private enum Wait {
        case ready
        case late
        case lost
    }

    /// Waits until something can be read, meanwhile sending what libpq could not send at once.
    private func waitForInput(until end: ContinuousClock.Instant) -> Wait {
        while true {
            let unsent = unsafe PQflush(handle)
            guard unsent >= 0, unsafe PQsocket(handle) >= 0 else { return .lost }
            let events = unsent == 1 ? POLLIN | POLLOUT : POLLIN
            var descriptor = unsafe pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            let left = max(.zero, end - ContinuousClock.now)
            let count = unsafe poll(&descriptor, 1, left.wholeMilliseconds)
            if count == 0, left == .zero {
                // What was not even sent has no answer to be watched for.
                return unsent == 1 ? .lost : .late
            }
            // A hang-up or error is found by reading.
            if count > 0, descriptor.revents & ~Int16(POLLOUT) != 0 { return .ready }
        }
    }
}

extension Duration {
    /// Rounded up, for `poll`.
    var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let milliseconds =
            seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: milliseconds)
    }
}
