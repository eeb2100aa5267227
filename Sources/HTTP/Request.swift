package import Countersign

/// One complete request whose framing is beyond doubt and whose body is within the limit.
package struct Request: Sendable {
    package let method: Method
    /// The path as it was sent: not decoded, not normalised, printable ASCII.
    package let path: String
    /// The decoded query; empty when there is none, `nil` when it cannot be decoded.
    package let query: Query?
    /// Names are lower-case.
    package let headers: HeaderFields
    package let body: Bytes
    package let peer: Peer
    /// The caller's `X-Request-ID` when it is acceptable, else one made here; also in the answer.
    package let id: String
    /// The caller's `traceparent` when it is well-formed (W3C Trace Context §3.2).
    package let traceparent: String?

    package init(
        method: Method, path: String, query: Query? = Query(), headers: HeaderFields = [:],
        body: Bytes = [], peer: Peer = .plain, id: String, traceparent: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.peer = peer
        self.id = id
        self.traceparent = traceparent
    }
}
