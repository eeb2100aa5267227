/// Where a server listens, how it speaks and how much it takes.
package struct ServerOptions: Sendable {
    /// An IPv4 or IPv6 address, or a name that resolves to one, such as `localhost`.
    package var host: String
    /// 0 lets the system choose a free port.
    package var port: UInt16
    /// `nil` is plain HTTP; whether that is allowed is the caller's decision.
    package var tls: TLSOptions?
    package var limits: ServerLimits
    /// Makes the id of a request whose caller sent none: 1–64 of `[A-Za-z0-9._-]`.
    package var makeRequestID: @Sendable () -> String

    package init(
        host: String, port: UInt16, tls: TLSOptions?, limits: ServerLimits = ServerLimits(),
        makeRequestID: @escaping @Sendable () -> String
    ) {
        self.host = host
        self.port = port
        self.tls = tls
        self.limits = limits
        self.makeRequestID = makeRequestID
    }
}

/// The server's own certificate, and what it asks of its clients. TLS 1.2 is the least.
package struct TLSOptions: Sendable, Equatable {
    /// What is asked of a client in the handshake.
    package enum ClientCertificatePolicy: String, Sendable, Equatable, CaseIterable {
        /// None is asked for.
        case off
        /// One may be shown; one that does not verify ends the handshake.
        case optional
        /// The handshake fails without one that verifies.
        case required
    }

    /// PEM: the server's certificate, then those between it and the root.
    package var certificateChainFile: String
    /// PEM, without a passphrase.
    package var privateKeyFile: String
    /// PEM: the CAs that client certificates must chain to; needed unless the policy is `off`.
    package var clientCAFile: String?
    package var clientCertificate: ClientCertificatePolicy

    package init(
        certificateChainFile: String, privateKeyFile: String, clientCAFile: String?,
        clientCertificate: ClientCertificatePolicy
    ) {
        self.certificateChainFile = certificateChainFile
        self.privateKeyFile = privateKeyFile
        self.clientCAFile = clientCAFile
        self.clientCertificate = clientCertificate
    }
}

/// What one server takes, in bytes, connections and time. Beyond a limit it refuses; it never queues.
package struct ServerLimits: Sendable, Equatable {
    /// The largest body that a handler gets; a larger one is answered 413 as a problem.
    package var bodyBytesMax = 64 << 10
    /// The largest body that is read at all, so that the answer can be ours; beyond it the library
    /// answers a bare 413. One connection can make the server hold this much.
    package var bodyBytesReadMax = 256 << 10
    /// Request line and header fields together; beyond it the library answers a bare 400 or 413.
    package var headBytesMax = 16 << 10
    /// At this many open connections no more are accepted until one closes.
    ///
    /// If the process's limit of file descriptors, less ``descriptorsReserved``, is lower when the
    /// server is made, that holds. Otherwise clients could take the descriptors that the database
    /// needs, and Swift's tasks for their timers.
    package var connectionsMax = 12_000
    /// File descriptors that are left to the rest of the process.
    package static let descriptorsReserved = 256
    /// Connections that the system completes and holds before they are accepted.
    package var backlogMax: Int32 = 4096
    /// From connecting to the end of the TLS handshake.
    package var handshakeDeadline: Duration = .seconds(10)
    /// From the first byte of a request to its last.
    package var readDeadline: Duration = .seconds(15)
    /// From the first byte of an answer to its last.
    package var writeDeadline: Duration = .seconds(30)
    /// How long a connection may wait, silent, for its next request.
    package var idleTimeout: Duration = .seconds(60)

    package init() {}

    /// How often deadlines are looked at: often enough to be late by a quarter at most.
    var tickInterval: Duration {
        let shortest = min(handshakeDeadline, readDeadline, writeDeadline)
        return max(.milliseconds(10), min(.seconds(1), shortest / 4))
    }
}
