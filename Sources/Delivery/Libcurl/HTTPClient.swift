internal import CCurl
import Countersign

/// Sends HTTP requests through libcurl on threads of its own.
///
/// Any status is an answer, redirects included: none is followed. The peer's certificate and name are
/// always verified. Proxies, cookies, user names and `.netrc` are never used. When the client goes
/// away, its threads end.
///
/// libcurl sends a request once more by itself when a kept-alive connection turns out to be dead before
/// any byte of an answer came. That is why every request that changes something has an idempotency key.
package final class HTTPClient: Sendable {
    /// How a client connects and what it puts up with.
    package struct Options: Sendable {
        /// For the connection with its TLS handshake.
        package let connectTimeout: Duration
        /// For the whole exchange.
        package let totalTimeout: Duration
        /// The longest body that is read.
        package let bodyBytesMax: Int
        /// PEM file of the authorities to trust; `nil` for the system's.
        package let authoritiesFile: String?
        /// What to show to a peer that asks for a client certificate.
        package let clientCertificate: ClientCertificate?
        /// Where plain HTTP may go.
        package let plainHTTP: PlainHTTP
        /// The number of threads, and so of exchanges at one time.
        package let slots: Int

        package init(
            connectTimeout: Duration, totalTimeout: Duration, bodyBytesMax: Int = 64 * 1024,
            authoritiesFile: String?, clientCertificate: ClientCertificate?, plainHTTP: PlainHTTP,
            slots: Int
        ) {
            precondition(slots > 0, "a client needs at least one thread")
            self.connectTimeout = connectTimeout
            self.totalTimeout = totalTimeout
            self.bodyBytesMax = bodyBytesMax
            self.authoritiesFile = authoritiesFile
            self.clientCertificate = clientCertificate
            self.plainHTTP = plainHTTP
            self.slots = slots
        }
    }

    /// A client certificate and its key, as PEM files. They are read for each new connection.
    package struct ClientCertificate: Sendable {
        package let certificateFile: String
        package let keyFile: String

        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// Where requests may go without TLS.
    package enum PlainHTTP: Sendable {
        case toLoopbackOnly
        case toAnyHost
    }

    private let options: Options
    private let queue = ExchangeQueue()

    /// Starts the threads.
    ///
    /// - Parameter options: How to connect.
    /// - Throws: ``TransportFailure/other(code:)`` when libcurl or a thread cannot be started.
    package init(_ options: Options) throws(TransportFailure) {
        guard libraryStatus == CURLE_OK else {
            throw .other(code: Int(libraryStatus.rawValue))
        }
        self.options = options
        for _ in 0..<options.slots {
            guard ExchangeThread.start(queue: queue, options: options) else {
                queue.close()
                throw .other(code: Int(CURLE_FAILED_INIT.rawValue))
            }
        }
    }

    deinit { queue.close() }

    /// Sends a request and waits for the answer, without blocking a thread of Swift's.
    ///
    /// It runs to its end in a cancelled task too: what was sent cannot be taken back.
    ///
    /// - Parameter request: What to send.
    /// - Returns: The answer, whatever its status.
    /// - Throws: ``TransportFailure`` when there is none.
    package func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        guard
            options.plainHTTP == .toAnyHost || request.url.scheme == .https
                || request.url.isLoopback
        else { throw .notAllowed }
        let result = await withCheckedContinuation { continuation in
            queue.add(Exchange(request: request) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }
}

/// libcurl's global initialisation, made once by whoever asks first.
private let libraryStatus: CURLcode = countersign_curl_global_init()
