/// What a request asks to be done with its path.
package enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case patch = "PATCH"
    case options = "OPTIONS"
    /// `TRACE`, `CONNECT` and everything that the library does not know; no route takes it.
    case other = "other"
}
