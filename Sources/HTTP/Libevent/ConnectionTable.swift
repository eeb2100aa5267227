internal import CLibevent

/// All open connections of one server. On the loop's thread only.
@safe final class ConnectionTable {
    /// Streams that evhttp made in this pass and whose connection is not in the table yet.
    private var arrivals: [OpaquePointer] = unsafe []
    /// By the address of evhttp's connection, which is unique while that is open.
    private var byAddress: [UInt: Connection] = [:]

    var count: Int { unsafe byAddress.count + arrivals.count }

    var isEmpty: Bool { count == 0 }

    var all: some Collection<Connection> { byAddress.values }

    /// The connection of that handle; `nil` when it is closed or was never adopted.
    subscript(handle: OpaquePointer) -> Connection? { byAddress[UInt(bitPattern: handle)] }

    /// Notes the stream of a connection that evhttp has accepted but not yet set up.
    func expect(_ stream: OpaquePointer) { unsafe arrivals.append(stream) }

    /// Takes in the connections of the streams that were expected, and returns them.
    ///
    /// Runs in the same pass as the accept, before anything can happen to the new connections.
    /// Evhttp does not say which connection a stream got. But it makes that connection the argument
    /// of the stream's callbacks, where libevent's public API shows it.
    func adoptArrivals(limits: ServerLimits) -> [Connection] {
        var adopted: [Connection] = []
        unsafe arrivals.forEach { stream in
            var argument: UnsafeMutableRawPointer?
            unsafe bufferevent_getcb(stream, nil, nil, nil, &argument)
            guard let argument = unsafe argument,
                let connection = unsafe Connection(
                    handle: OpaquePointer(argument), limits: limits)
            else { return }
            byAddress[UInt(bitPattern: argument)] = connection
            adopted.append(connection)
        }
        unsafe arrivals.removeAll(keepingCapacity: true)
        return adopted
    }

    /// Forgets a connection and detaches libevent from it.
    func remove(_ handle: OpaquePointer) -> Connection? {
        let connection = byAddress.removeValue(forKey: UInt(bitPattern: handle))
        connection?.detach()
        return connection
    }
}
