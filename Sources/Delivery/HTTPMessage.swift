package import Countersign

/// One field of an HTTP message.
package struct HTTPField: Equatable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request to send.
package struct HTTPRequest: Sendable {
    /// The methods that are ever sent.
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case delete = "DELETE"
    }

    package let method: Method
    package let url: HTTPURL
    /// Fields beside those that the transport writes itself (`Host`, `Content-Length`).
    package let fields: [HTTPField]
    /// Sent with `POST` only.
    package let body: Bytes

    package init(_ method: Method, _ url: HTTPURL, fields: [HTTPField] = [], body: Bytes = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}

/// An answer, whatever its status.
package struct HTTPResponse: Sendable {
    package let status: Int
    /// The fields of the final answer in their order, without white space around the values.
    package let fields: [HTTPField]
    package let body: Bytes

    package init(status: Int, fields: [HTTPField], body: Bytes) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The value of the first field of that name, compared without case.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// How a request gets its answer: `HTTPClient.send` in production.
package typealias HTTPTransport =
    @Sendable (HTTPRequest) async throws(TransportFailure) -> HTTPResponse

/// Why there is no answer.
package enum TransportFailure: Error, Equatable, Sendable {
    /// Connecting or the whole exchange took longer than allowed.
    case timeout
    /// No connection: refused, unreachable, or the name is unknown. Nothing was sent.
    case connectionFailed
    /// TLS failed: the peer's certificate, ours, or the handshake.
    case tls
    /// The answer is longer than allowed.
    case answerTooLarge
    /// The request was not sent: plain HTTP beyond this machine, or a field that cannot be sent.
    case notAllowed
    /// Anything else, as libcurl numbers it (`CURLcode`), such as a connection that broke.
    case other(code: Int)
}

/// The words for why an exchange settled nothing, which labels of metrics share.
package protocol ExchangeCause {
    static var timeout: Self { get }
    static var connectionFailed: Self { get }
    static var tls: Self { get }
    static var answerTooLarge: Self { get }
    static var broken: Self { get }
}

extension ExchangeCause {
    /// The label of a transport failure.
    package init(_ failure: TransportFailure) {
        self =
            switch failure {
            case .timeout: .timeout
            case .connectionFailed, .notAllowed: .connectionFailed
            case .tls: .tls
            case .answerTooLarge: .answerTooLarge
            case .other: .broken
            }
    }
}

extension UnsettledCause: ExchangeCause {}
