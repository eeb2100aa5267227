/// How the service uses its database.
package struct DatabaseOptions: Sendable {
    /// Where and as whom to connect.
    package var connection: ConnectionInfo
    /// Connections, each with a thread of its own; also how many more the server must bear when
    /// commits hang (see ``writesMax``). Commits per second are this number over the commit's latency.
    package var size: Int
    /// How long one statement may take, from sending it to its last answer.
    package var statementDeadline: Duration = .seconds(4)
    /// How many jobs may wait for a connection; one more is refused at once.
    package var waitingMax = 1000
    /// How long a job may wait for a connection.
    package var waitingDeadline: Duration = .seconds(2)
    /// As what the server's views show the connections.
    package var applicationName = "countersign"
    /// The first pause after a connection could not be made; it doubles up to ``reconnectPauseMax``.
    package var reconnectPause: Duration = .milliseconds(100)
    /// The longest pause between two attempts to connect.
    package var reconnectPauseMax: Duration = .seconds(2)

    /// Writes that may be under way at once, those included whose answer is no longer waited for:
    /// their server processes are still there. While as many hang, further writes are refused before
    /// anything is sent, and reads go on.
    package var writesMax: Int { size }

    /// - Parameters:
    ///   - connection: Where and as whom to connect.
    ///   - size: Connections, at least 1.
    package init(connection: ConnectionInfo, size: Int) {
        precondition(size > 0, "a pool has at least one connection")
        self.connection = connection
        self.size = size
    }
}
